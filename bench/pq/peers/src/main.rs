// SPDX-License-Identifier: Apache-2.0
//! Measures signatures a second by PQClean's code from the crates pqcrypto-mldsa and
//! pqcrypto-sphincsplus (with AVX2 if the CPU has it), on one core and on CORES cores. Prints rows
//! in the format of bench/results. The latter crate computes SPHINCS+ 3.1, which needs as many
//! hashes as SLH-DSA.
//!
//!     cargo run --locked --release --manifest-path bench/pq/peers/Cargo.toml -- CORES
use pqcrypto_mldsa as mldsa;
use pqcrypto_sphincsplus as slh;
use std::time::{Duration, Instant};

fn rate(cores: usize, sign: impl Fn() + Sync) -> f64 {
    let start = Instant::now();
    let slice = Duration::from_millis(300);
    let done: u64 = std::thread::scope(|scope| {
        let all: Vec<_> = (0..cores)
            .map(|_| {
                scope.spawn(|| {
                    let mut done = 0;
                    loop {
                        sign();
                        done += 1;
                        if start.elapsed() > slice {
                            return done;
                        }
                    }
                })
            })
            .collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    done as f64 / start.elapsed().as_secs_f64()
}

fn tell(name: &str, cores: usize, sign: impl Fn() + Sync) {
    for (count, place) in [(1, "pqclean"), (cores, "pqclean-all-cores")] {
        rate(count, &sign);
        let mut rates: Vec<f64> = (0..3).map(|_| rate(count, &sign)).collect();
        rates.sort_by(f64::total_cmp);
        println!(
            "{{\"name\": \"{name}.sign.{place}\", \"value\": {}, \"unit\": \"op/s\", \"runs\": 3, \
             \"min\": {}, \"max\": {}, \"clock\": \"wall\"}}",
            rates[1], rates[0], rates[2]
        );
    }
}

macro_rules! peer {
    ($cores:expr, $name:expr, $family:ident, $set:ident) => {{
        let (_, key) = $family::$set::keypair();
        tell($name, $cores, || {
            std::hint::black_box($family::$set::detached_sign(&[0x15; 32], &key));
        });
    }};
}

fn main() {
    let cores: usize = std::env::args()
        .nth(1)
        .expect("the number of cores")
        .parse()
        .unwrap();
    peer!(cores, "ml-dsa-65", mldsa, mldsa65);
    peer!(cores, "slh-dsa-sha2-128s", slh, sphincssha2128ssimple);
    peer!(cores, "slh-dsa-sha2-128f", slh, sphincssha2128fsimple);
    peer!(cores, "ml-dsa-44", mldsa, mldsa44);
    peer!(cores, "ml-dsa-87", mldsa, mldsa87);
    peer!(cores, "slh-dsa-shake-128s", slh, sphincsshake128ssimple);
    peer!(cores, "slh-dsa-sha2-192f", slh, sphincssha2192fsimple);
    peer!(cores, "slh-dsa-sha2-256f", slh, sphincssha2256fsimple);
    peer!(cores, "slh-dsa-sha2-192s", slh, sphincssha2192ssimple);
    peer!(cores, "slh-dsa-sha2-256s", slh, sphincssha2256ssimple);
}
