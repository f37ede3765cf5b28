# SPDX-License-Identifier: Apache-2.0
# Runs in dev/clients: a TLS server and a TLS client with IO::Socket::SSL, in two
# processes, and a signature with Crypt::OpenSSL::RSA. Usage: encrypt.pl FOLDER

use strict;
use warnings;
use Crypt::OpenSSL::RSA;
use IO::Socket::SSL;

my $folder = $ARGV[0];

sub contents {
    open my $file, '<:raw', "$folder/$_[0]" or die "$_[0]: $!";
    local $/;
    return <$file>;
}

sub keep {
    my ($name, $bytes) = @_;
    open my $file, '>:raw', "$folder/$name" or die "$name: $!";
    print $file $bytes;
    close $file or die "$name: $!";
}

my $data = contents('data.bin');
my $listener = IO::Socket::SSL->new(
    LocalAddr => '127.0.0.1', Listen => 8, SSL_server => 1,
    SSL_cert_file => "$folder/certificate.pem", SSL_key_file => "$folder/key.pem")
    or die "no server: $SSL_ERROR";

my $rounds = 4;
my $child = fork // die "fork: $!";
if (!$child) {
    for (1 .. $rounds) {
        my $connection = $listener->accept or die "accept: $SSL_ERROR";
        print $connection $data;
        $connection->close;
    }
    exit 0;
}
my $received;
for my $round (1 .. $rounds) {
    my $client = IO::Socket::SSL->new(
        PeerAddr => '127.0.0.1', PeerPort => $listener->sockport, SSL_ca_file =>
        "$folder/certificate.pem", SSL_verifycn_name => 'localhost', SSL_hostname => 'localhost',
        SSL_version => $round % 2 ? 'TLSv1_2' : 'TLSv1_3') or die "no client: $SSL_ERROR";
    local $/;
    $received = <$client>;
    die "other bytes came" unless $received eq $data;
}
waitpid $child, 0;
die "the server ended with $?" if $?;
keep('received.out', $received);

my $private = Crypt::OpenSSL::RSA->new_private_key(contents('key.pem'));
$private->use_sha256_hash;
$private->use_pkcs1_padding;
keep('signature.out', $private->sign($data));
$private->use_pkcs1_oaep_padding;
keep('opened.out', $private->decrypt(contents('sealed.bin')));
