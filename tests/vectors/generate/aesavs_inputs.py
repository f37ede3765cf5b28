# SPDX-License-Identifier: Apache-2.0
"""Inputs that NIST chose for the Advanced Encryption Standard Algorithm Validation Suite
(AESAVS): those of its known-answer tests that follow no rule, and the seeds of the Monte Carlo
chains of its published sample. VarTxt and VarKey follow a rule, and write_vectors.py makes them.
"""

# Plaintexts for the key of zeros (AESAVS, appendix B).
GFSBOX_PLAINTEXTS = {
    128: """
        f34481ec3cc627bacd5dc3fb08f273e6
        9798c4640bad75c7c3227db910174e72
        96ab5c2ff612d9dfaae8c31f30c42168
        6a118a874519e64e9963798a503f1d35
        cb9fceec81286ca3e989bd979b0cb284
        b26aeb1874e47ca8358ff22378f09144
        58c8e00b2631686d54eab84b91f0aca1
    """.split(),
    192: """
        1b077a6af4b7f98229de786d7516b639
        9c2d8842e5f48f57648205d39a239af1
        bff52510095f518ecca60af4205444bb
        51719783d3185a535bd75adc65071ce1
        26aa49dcfe7629a8901a69a9914e6dfd
        941a4773058224e1ef66d10e0a6ee782
    """.split(),
    256: """
        014730f80ac625fe84f026c60bfd547d
        0b24af36193ce4665f2825d7b4749c98
        761c1fe41a18acf20d241650611d90f1
        8a560769d605868ad80d819bdba03771
        91fbef2d15a97816060bee1feaa49afe
    """.split(),
}

# Keys for the plaintext of zeros (AESAVS, appendix C).
KEYSBOX_KEYS = {
    128: """
        10a58869d74be5a374cf867cfb473859
        caea65cdbb75e9169ecd22ebe6e54675
        a2e2fa9baf7d20822ca9f0542f764a41
        b6364ac4e1de1e285eaf144a2415f7a0
        64cf9c7abc50b888af65f49d521944b2
        47d6742eefcc0465dc96355e851b64d9
        3eb39790678c56bee34bbcdeccf6cdb5
        64110a924f0743d500ccadae72c13427
        18d8126516f8a12ab1a36d9f04d68e51
        f530357968578480b398a3c251cd1093
        da84367f325d42d601b4326964802e8e
        e37b1c6aa2846f6fdb413f238b089f23
        6c002b682483e0cabcc731c253be5674
        143ae8ed6555aba96110ab58893a8ae1
        b69418a85332240dc82492353956ae0c
        71b5c08a1993e1362e4d0ce9b22b78d5
        e234cdca2606b81f29408d5f6da21206
        13237c49074a3da078dc1d828bb78c6f
        3071a2a48fe6cbd04f1a129098e308f8
        90f42ec0f68385f2ffc5dfc03a654dce
        febd9a24d8b65c1c787d50a4ed3619a9
    """.split(),
    192: """
        e9f065d7c13573587f7875357dfbb16c53489f6a4bd0f7cd
        15d20f6ebc7e649fd95b76b107e6daba967c8a9484797f29
        a8a282ee31c03fae4f8e9b8930d5473c2ed695a347e88b7c
        cd62376d5ebb414917f0c78f05266433dc9192a1ec943300
        502a6ab36984af268bf423c7f509205207fc1552af4a91e5
        25a39dbfd8034f71a81f9ceb55026e4037f8f6aa30ab44ce
        e08c15411774ec4a908b64eadc6ac4199c7cd453f3aaef53
        3b375a1ff7e8d44409696e6326ec9dec86138e2ae010b980
        950bb9f22cc35be6fe79f52c320af93dec5bc9c0c2f9cd53
        7001c487cc3e572cfc92f4d0e697d982e8856fdcc957da40
        f029ce61d4e5a405b41ead0a883cc6a737da2cf50a6c92ae
        61257134a518a0d57d9d244d45f6498cbc32f2bafc522d79
        b0ab0a6a818baef2d11fa33eac947284fb7d748cfb75e570
        ee053aa011c8b428cdcc3636313c54d6a03cac01c71579d6
        d2926527e0aa9f37b45e2ec2ade5853ef807576104c7ace3
        982215f4e173dfa0fcffe5d3da41c4812c7bcc8ed3540f93
        98c6b8e01e379fbd14e61af6af891596583565f2a27d59e9
        b3ad5cea1dddc214ca969ac35f37dae1a9a9d1528f89bb35
        45899367c3132849763073c435a9288a766c8b9ec2308516
        ec250e04c3903f602647b85a401a1ae7ca2f02f67fa4253e
        d077a03bd8a38973928ccafe4a9d2f455130bd0af5ae46a9
        d184c36cf0dddfec39e654195006022237871a47c33d3198
        4c6994ffa9dcdc805b60c2c0095334c42d95a8fc0ca5b080
        c88f5b00a4ef9a6840e2acaf33f00a3bdc4e25895303fa72
    """.split(),
    256: """
        c47b0294dbbbee0fec4757f22ffeee3587ca4730c3d33b691df38bab076bc558
        28d46cffa158533194214a91e712fc2b45b518076675affd910edeca5f41ac64
        c1cc358b449909a19436cfbb3f852ef8bcb5ed12ac7058325f56e6099aab1a1c
        984ca75f4ee8d706f46c2d98c0bf4a45f5b00d791c2dfeb191b5ed8e420fd627
        b43d08a447ac8609baadae4ff12918b9f68fc1653f1269222f123981ded7a92f
        1d85a181b54cde51f0e098095b2962fdc93b51fe9b88602b3f54130bf76a5bd9
        dc0eba1f2232a7879ded34ed8428eeb8769b056bbaf8ad77cb65c3541430b4cf
        f8be9ba615c5a952cabbca24f68f8593039624d524c816acda2c9183bd917cb9
        797f8b3d176dac5b7e34a2d539c4ef367a16f8635f6264737591c5c07bf57a3e
        6838d40caf927749c13f0329d331f448e202c73ef52c5f73a37ca635d4c47707
        ccd1bc3c659cd3c59bc437484e3c5c724441da8d6e90ce556cd57d0752663bbc
        13428b5e4c005e0636dd338405d173ab135dec2a25c22c5df0722d69dcc43887
        07eb03a08d291d1b07408bf3512ab40c91097ac77461aad4bb859647f74f00ee
        90143ae20cd78c5d8ebdd6cb9dc1762427a96c78c639bccc41a61424564eafe1
        b7a5794d52737475d53d5a377200849be0260a67a2b22ced8bbef12882270d07
        fca02f3d5011cfc5c1e23165d413a049d4526a991827424d896fe3435e0bf68e
    """.split(),
}

# (mode, bits of the key, direction): key, IV, first text. The text is a plaintext for encryption
# and a ciphertext for decryption.
MONTE_CARLO_SEEDS = {
    ("ecb", 128, "encrypt"): (
        "139a35422f1d61de3c91787fe0507afd",
        "",
        "b9145a768b7dc489a096b546f43b231f",
    ),
    ("ecb", 128, "decrypt"): (
        "0c60e7bf20ada9baa9e1ddf0d1540726",
        "",
        "b08a29b11a500ea3aca42c36675b9785",
    ),
    ("ecb", 192, "encrypt"): (
        "b9a63e09e1dfc42e93a90d9bad739e5967aef672eedd5da9",
        "",
        "85a1f7a58167b389cddc8a9ff175ee26",
    ),
    ("ecb", 192, "decrypt"): (
        "4b97585701c03fbebdfa8555024f589f1482c58a00fdd9fd",
        "",
        "d0bd0e02ded155e4516be83f42d347a4",
    ),
    ("ecb", 256, "encrypt"): (
        "f9e8389f5b80712e3886cc1fa2d28a3b8c9cd88a2d4a54c6aa86ce0fef944be0",
        "",
        "b379777f9050e2a818f2940cbbd9aba4",
    ),
    ("ecb", 256, "decrypt"): (
        "2b09ba39b834062b9e93f48373b8dd018dedf1e5ba1b8af831ebbacbc92a2643",
        "",
        "89649bd0115f30bd878567610223a59d",
    ),
    ("cbc", 128, "encrypt"): (
        "8809e7dd3a959ee5d8dbb13f501f2274",
        "e5c0bb535d7d54572ad06d170a0e58ae",
        "1fd4ee65603e6130cfc2a82ab3d56c24",
    ),
    ("cbc", 128, "decrypt"): (
        "287b07c78f8e3e1be7c41b3d96c04e6e",
        "41b461f9464fd515d25413b4241002b8",
        "7c54923b0490a9d4de4ec1ce6790aa4d",
    ),
    ("cbc", 192, "encrypt"): (
        "dea64f83cfe6a0a183ddbe865cfca059b3c615c1623d63fc",
        "426fbc087b50b395c0fc81ef9fd6d1aa",
        "cd0b8c8a8179ecb171b64c894a4d60fd",
    ),
    ("cbc", 192, "decrypt"): (
        "a24ebd4d7a080c28caae984b5098a9ea38cf7280e2c5f122",
        "c5aeb9b51ad5108371c59d0b90816310",
        "eb2c4e2712591ff13b8ac7870c9c404c",
    ),
    ("cbc", 256, "encrypt"): (
        "632bac4fe4db44cfcf18cfa90b43f86f378611b8d968595eb89e7ae98624564a",
        "ff8127621be616803e3f002377730185",
        "90ed17475f0a62bc381ba1f3ffbfff33",
    ),
    ("cbc", 256, "decrypt"): (
        "31397ad8cc79c519e0f46e0f70303587e38958d70723b771552336b7771f6311",
        "4139cb54eeac3fcf36ed72941122c40f",
        "27a1d5c10fe45b801d15f56e654a70f0",
    ),
}
