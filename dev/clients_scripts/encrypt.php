<?php
// SPDX-License-Identifier: Apache-2.0
// Runs in dev/clients: encrypts and signs by PHP's OpenSSL functions. Usage: encrypt.php FOLDER

function check($holds, $what) {
    if (!$holds) {
        while ($error = openssl_error_string()) fwrite(STDERR, "$error\n");
        fwrite(STDERR, "$what\n");
        exit(1);
    }
}

$folder = $argv[1];
$data = file_get_contents("$folder/data.bin");
$key = hex2bin(trim(file_get_contents("$folder/key.hex")));
$iv = hex2bin(trim(file_get_contents("$folder/iv.hex")));
$private = openssl_pkey_get_private(file_get_contents("$folder/key.pem"));
check($private !== false, "the key cannot be read");

foreach (["ctr", "cbc", "gcm"] as $mode) {
    $tag = "";
    $nonce = $mode == "gcm" ? substr($iv, 0, 12) : $iv;
    if ($mode == "gcm") {
        $sealed = openssl_encrypt($data, "aes-256-gcm", $key, OPENSSL_RAW_DATA, $nonce, $tag);
        $back = openssl_decrypt($sealed, "aes-256-gcm", $key, OPENSSL_RAW_DATA, $nonce, $tag);
    } else {
        $sealed = openssl_encrypt($data, "aes-256-$mode", $key, OPENSSL_RAW_DATA, $nonce);
        $back = openssl_decrypt($sealed, "aes-256-$mode", $key, OPENSSL_RAW_DATA, $nonce);
    }
    check($back === $data, "$mode does not decrypt");
    file_put_contents("$folder/$mode.out", $sealed . $tag);
}
check(openssl_sign($data, $signature, $private, OPENSSL_ALGO_SHA256), "cannot sign");
file_put_contents("$folder/signature.out", $signature);
check(openssl_private_decrypt(file_get_contents("$folder/sealed.bin"), $opened, $private,
                              OPENSSL_PKCS1_OAEP_PADDING), "cannot decrypt");
file_put_contents("$folder/opened.out", $opened);
