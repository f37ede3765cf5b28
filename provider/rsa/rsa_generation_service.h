// RSA key generation by the service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "provider/rsa/rsa_generation.h"

namespace lanecrypt::provider {

// generate_by_service() does the same as generate_rsa_key(), for a key for which suits_device() is
// true.
GeneratedKey generate_by_service(Provider &provider, RsaType type, const RsaWish &wish,
                                 TellProgress tell, void *argument);

}  // namespace lanecrypt::provider
