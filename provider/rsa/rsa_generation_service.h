// RSA keys that the service makes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/rsa/rsa_generation.h"

namespace lanecrypt::provider {

// As generate_rsa_key(), for a key that devices make.
GeneratedKey generate_by_service(Provider &provider, RsaType type, const RsaWish &wish,
                                 TellProgress tell, void *argument);

}  // namespace lanecrypt::provider
