// SPDX-License-Identifier: Apache-2.0
// Runs in dev/clients: encrypts and signs by Node's module crypto. Usage: encrypt.mjs FOLDER

import assert from "node:assert";
import crypto from "node:crypto";
import fs from "node:fs";
import { promisify } from "node:util";

const folder = process.argv[2];
const read = (name) => fs.readFileSync(`${folder}/${name}`);
const data = read("data.bin");
const key = Buffer.from(read("key.hex").toString().trim(), "hex");
const iv = Buffer.from(read("iv.hex").toString().trim(), "hex");
const privateKey = read("key.pem");

for (const mode of ["ctr", "cbc", "gcm"]) {
  const nonce = mode == "gcm" ? iv.subarray(0, 12) : iv;
  const cipher = crypto.createCipheriv(`aes-256-${mode}`, key, nonce);
  const sealed = Buffer.concat([cipher.update(data), cipher.final()]);
  const tag = mode == "gcm" ? cipher.getAuthTag() : Buffer.alloc(0);
  fs.writeFileSync(`${folder}/${mode}.out`, Buffer.concat([sealed, tag]));
  const back = crypto.createDecipheriv(`aes-256-${mode}`, key, nonce);
  if (mode == "gcm") back.setAuthTag(tag);
  assert(Buffer.concat([back.update(sealed), back.final()]).equals(data), mode);
}
// Uses the threads of Node's pool.
const sign = promisify(crypto.sign);
const signatures = await Promise.all(
  Array.from({ length: 8 }, () => sign("sha256", data, privateKey)));
assert(signatures.every((signature) => signature.equals(signatures[0])));
fs.writeFileSync(`${folder}/signature.out`, signatures[0]);
fs.writeFileSync(`${folder}/opened.out`, crypto.privateDecrypt(privateKey, read("sealed.bin")));
