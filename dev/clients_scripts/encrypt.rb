# SPDX-License-Identifier: Apache-2.0
# Runs in dev/clients: encrypts and signs by Ruby's library openssl. Usage: encrypt.rb FOLDER

require "openssl"

folder = ARGV[0]
data = File.binread("#{folder}/data.bin")
key = [File.read("#{folder}/key.hex").strip].pack("H*")
iv = [File.read("#{folder}/iv.hex").strip].pack("H*")
private_key = OpenSSL::PKey.read(File.read("#{folder}/key.pem"))

%w[ctr cbc gcm].each do |mode|
  cipher = OpenSSL::Cipher.new("aes-256-#{mode}").encrypt
  cipher.key = key
  cipher.iv = mode == "gcm" ? iv[0, 12] : iv
  sealed = cipher.update(data) + cipher.final
  tag = mode == "gcm" ? cipher.auth_tag : ""
  File.binwrite("#{folder}/#{mode}.out", sealed + tag)
  back = OpenSSL::Cipher.new("aes-256-#{mode}").decrypt
  back.key = key
  back.iv = mode == "gcm" ? iv[0, 12] : iv
  back.auth_tag = tag if mode == "gcm"
  abort "#{mode} does not decrypt" unless back.update(sealed) + back.final == data
end
signatures = Array.new(8) { Thread.new { private_key.sign("SHA256", data) } }.map(&:value).uniq
abort "signatures differ" unless signatures.size == 1
File.binwrite("#{folder}/signature.out", signatures[0])
File.binwrite("#{folder}/opened.out", private_key.private_decrypt(
  File.binread("#{folder}/sealed.bin"), OpenSSL::PKey::RSA::PKCS1_OAEP_PADDING))
