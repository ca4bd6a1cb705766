// Written by scripts/self-test-digests from the reference implementations in
// tests/reference. Each row of a cipher is one mode: its messages and its batches, by
// direction.
#pragma once

#include "engine/self_test/digests.h"

namespace warpseal {

// clang-format off
inline constexpr CipherDigests digest_table[] = {
  {"aes-128", 0xf7c274ea2af8f8b5, {
    {{0xc4880c1184e49bc4, 0x90b442f9d28f183e}, {0, 0}},  // ecb
    {{0xd0cf4d427756ef12, 0xd0cf4d427756ef12}, {0x4f93562a2203a18a, 0x4f93562a2203a18a}},  // ctr
    {{0xa4fd66d65ca1abb0, 0x9a961abf83e00aae}, {0xfde837b968213072, 0xa592fbddd727c92e}},  // gcm
    {{0, 0x661fe199a0c5d789}, {0x7c660ff91b7ba88f, 0x83e5a2fc7e19c1dd}},  // cbc
    {{0, 0x29043f1cc6d62690}, {0xfb68aa20ecd1c972, 0xeba8327a6a0b7008}},  // cfb
    {{0, 0}, {0xaff46dc38bee725d, 0xaff46dc38bee725d}},  // ofb
    {{0xac4d05e76b22ff93, 0x5761de7a8bdcd6d8}, {0, 0}},  // xts
    {{0, 0}, {0x42e1d8e336db5a93, 0x5e69cce05253ce86}},  // ccm
    {{0, 0}, {0x14f438eb62d18a41, 0x1534119305d6626e}},  // cmac
  }},
  {"aes-192", 0x88e9ad13673d29a4, {
    {{0x05b91431d6bae371, 0xc7911b0dcadb4b46}, {0, 0}},  // ecb
    {{0xd201756b9400904e, 0xd201756b9400904e}, {0x4a5c6ae2dfdc72e7, 0x4a5c6ae2dfdc72e7}},  // ctr
    {{0x8834218359c38c15, 0x5bff9b30a7b1e171}, {0x3d828efe19ac43a7, 0x7b00898c037085af}},  // gcm
    {{0, 0x99109d5397dbde68}, {0x96b873fb6366ace6, 0xa60afe5f3cd838d3}},  // cbc
    {{0, 0xfb7a2fde8a6c91bf}, {0xd51cdfa180c251c0, 0x0ed61a07c1361822}},  // cfb
    {{0, 0}, {0x66951c596fada3a2, 0x66951c596fada3a2}},  // ofb
    {{0x0b2efc2238b57a46, 0xc45af599adceb64d}, {0, 0}},  // xts
    {{0, 0}, {0x308c28fcf0888c10, 0x470f26b339bc253c}},  // ccm
    {{0, 0}, {0x4e0383224652348f, 0xb35c402aad80f2db}},  // cmac
  }},
  {"aes-256", 0xbc03898973f49c8d, {
    {{0x39fddb1e338605bf, 0xa64b4576659b3017}, {0, 0}},  // ecb
    {{0xbad509fac5914ace, 0xbad509fac5914ace}, {0x783d6700aabc4b4f, 0x783d6700aabc4b4f}},  // ctr
    {{0x2e4f6c0e34f81101, 0x4a020f4cf3a3baeb}, {0x19cecab45a2738ec, 0x1471fa3528b12c39}},  // gcm
    {{0, 0x9f2ac960a8fe1484}, {0x4f63570b1b9a5f98, 0x2485d1eb9d542463}},  // cbc
    {{0, 0x24f4a51e34059aa9}, {0x561002532bad02e8, 0x3a8cbb41e4fc478b}},  // cfb
    {{0, 0}, {0x1823084e49e7f39d, 0x1823084e49e7f39d}},  // ofb
    {{0xe94389764822a2b9, 0x145722675df236ff}, {0, 0}},  // xts
    {{0, 0}, {0xf8d5fdd20fbfdaef, 0x4c2b1eb548ca6e46}},  // ccm
    {{0, 0}, {0xcdd057393a33fa6f, 0x3c0ed2451d6b0d73}},  // cmac
  }},
  {"aria-128", 0x4486644663a8f106, {
    {{0x77a44cb7b26f9257, 0x39ff7db6d1c7be69}, {0, 0}},  // ecb
    {{0xa07a5429c86ebfc8, 0xa07a5429c86ebfc8}, {0xe03cf67872b5cfcd, 0xe03cf67872b5cfcd}},  // ctr
    {{0x48604919b6bedf9b, 0x8ed6a9b1fc4cee00}, {0x584a246db34f3fd3, 0xd55edcf729f95fa5}},  // gcm
    {{0, 0xcd6addc5191701c2}, {0x5a1d8e6647ddd21f, 0x69ffcb637f059da5}},  // cbc
    {{0, 0xe75023b39bf6ea0c}, {0x42bc75680defc675, 0x2f98ad80a5139def}},  // cfb
    {{0, 0}, {0xc1aac477c955fbda, 0xc1aac477c955fbda}},  // ofb
    {{0xa3b60bb0c748034c, 0xa2d4a6020bcd242b}, {0, 0}},  // xts
    {{0, 0}, {0x97aafdfc33da9139, 0xd3b37b05c769ebd5}},  // ccm
    {{0, 0}, {0xa076b7f6aeb49109, 0x4a06c2b46b49789b}},  // cmac
  }},
  {"aria-192", 0x10d6a1fe117fd48f, {
    {{0x2fbf7661a2607fd0, 0x11dc778ed8316040}, {0, 0}},  // ecb
    {{0xff71c8fc55a656e9, 0xff71c8fc55a656e9}, {0xb104ccebdd9f0108, 0xb104ccebdd9f0108}},  // ctr
    {{0x239f047c9a0fcee7, 0x748f93901c65d220}, {0x3ca0801bfe660c7c, 0x0f888891934ed3cc}},  // gcm
    {{0, 0x4446291963dbc37d}, {0x7a8e42efef0aae82, 0x741879015ac2d6fe}},  // cbc
    {{0, 0x30f5bfa74e549a14}, {0x95c4f3089c564e88, 0xb5bb6888bd4cb969}},  // cfb
    {{0, 0}, {0x764180e14ac60f35, 0x764180e14ac60f35}},  // ofb
    {{0x4b4618c24693bc72, 0x46bc30aff6a6404a}, {0, 0}},  // xts
    {{0, 0}, {0x7b11f1a1a75659ac, 0x8cb7e6bd5a8842c3}},  // ccm
    {{0, 0}, {0x96cb3f6935edde9b, 0x8b0397f1126ae9db}},  // cmac
  }},
  {"aria-256", 0x4963f63dfdc67c01, {
    {{0xc6b5e641eca47cf0, 0x533117eaa816d423}, {0, 0}},  // ecb
    {{0xe2bb252f145a456c, 0xe2bb252f145a456c}, {0x35c502b7816a2159, 0x35c502b7816a2159}},  // ctr
    {{0x26b2d9226e7ae501, 0xf5d9c1586a430e83}, {0x861a56293432593f, 0xe121ec95051668ba}},  // gcm
    {{0, 0x128803fc71b2829a}, {0xc689fe3def527179, 0x9f00a548dadd6fb5}},  // cbc
    {{0, 0x5a6a4de3e66630a3}, {0x23cdad719465735d, 0xc7271ef27eeee27c}},  // cfb
    {{0, 0}, {0x2a3322667cae6312, 0x2a3322667cae6312}},  // ofb
    {{0x1f7996e97b05bde2, 0xc31e208c0eb40329}, {0, 0}},  // xts
    {{0, 0}, {0xb095eeb4286ae0f4, 0x86d65e023e03c063}},  // ccm
    {{0, 0}, {0xf793cfc1f46a62ec, 0xfc1e8aa0b917b0e6}},  // cmac
  }},
  {"camellia-128", 0x5cb1ad94fc74d9af, {
    {{0xcb5647998cf56891, 0x6b00046fb6fd093d}, {0, 0}},  // ecb
    {{0x1d81848d3ab3902e, 0x1d81848d3ab3902e}, {0xeccd2ad4f0052534, 0xeccd2ad4f0052534}},  // ctr
    {{0x9d1e43a8d3e289f5, 0x7445f61d9aed6b95}, {0x7d96918411c0bc8c, 0xf1cdd7cae1f730ee}},  // gcm
    {{0, 0x0fc197d9e079668a}, {0xfb634d9d3aeb190c, 0x989aaa3b5de7480a}},  // cbc
    {{0, 0x32fd1d9937e66891}, {0xe822538ee3ae90de, 0xb891ccfda2dad1b8}},  // cfb
    {{0, 0}, {0x9b2c7a1b4edb6373, 0x9b2c7a1b4edb6373}},  // ofb
    {{0x72a12d3c860cb33c, 0x2787b8c0ee4d66a8}, {0, 0}},  // xts
    {{0, 0}, {0xb118dd549eb2937f, 0x61847de4678cf9d2}},  // ccm
    {{0, 0}, {0xb3facd02b80da5a0, 0x9a0e0605dea46b2a}},  // cmac
  }},
  {"camellia-192", 0x1ef0be14e4d08abe, {
    {{0xdda068f96476afb7, 0x559a628c84171b90}, {0, 0}},  // ecb
    {{0x725d94abe0a0a5dd, 0x725d94abe0a0a5dd}, {0xf385175427d3d64b, 0xf385175427d3d64b}},  // ctr
    {{0x37757aef0ab9e7a0, 0x3011dc228b50f2cc}, {0xd79dd2d42ab9d87a, 0x75c6134467d8a8da}},  // gcm
    {{0, 0x166ade68be6b5705}, {0x5e46b6b9a69662b8, 0x02a18266aa84d580}},  // cbc
    {{0, 0x4d0f5298433d278d}, {0x69470ac7f414c075, 0xd66395423e338056}},  // cfb
    {{0, 0}, {0x0458afde583fb71f, 0x0458afde583fb71f}},  // ofb
    {{0x4e08021c42d1b55f, 0xd94de1d0ce0ee819}, {0, 0}},  // xts
    {{0, 0}, {0xdf0dd0a385b76940, 0x5cfb8c53f509a261}},  // ccm
    {{0, 0}, {0x7d6ce8adb57c4ead, 0xb050ef1babe55d01}},  // cmac
  }},
  {"camellia-256", 0x251f59a39f219a94, {
    {{0x0cc047332b0e7f38, 0x774e3b2085389559}, {0, 0}},  // ecb
    {{0xa909955e75c05e96, 0xa909955e75c05e96}, {0x1da326496af9fc63, 0x1da326496af9fc63}},  // ctr
    {{0x568880d2a47964c9, 0x51ca443c9341b09d}, {0x1aca5858507d3cc6, 0xa0b309f30e621343}},  // gcm
    {{0, 0x5ba1dc1abb6d88f5}, {0x19bb3308f7deb857, 0x322b5522855730da}},  // cbc
    {{0, 0x9e2ff0a739c1b760}, {0x595ac640c34efb2d, 0x7eb2c8ff145b775a}},  // cfb
    {{0, 0}, {0x1e51f4f819fe3d78, 0x1e51f4f819fe3d78}},  // ofb
    {{0x4261839b04f9e6ce, 0x8a9a277f53c95ab5}, {0, 0}},  // xts
    {{0, 0}, {0x2bf6ddfd479de1c7, 0x0d1a4cc9983c1d19}},  // ccm
    {{0, 0}, {0x347a9101b0bc98ab, 0xfabd0006098b50b7}},  // cmac
  }},
  {"des", 0, {
    {{0x5f7edd979c7fa479, 0x7df5a0bb4f4230ec}, {0, 0}},  // ecb
    {{0xa91b92f9585ff62a, 0xa91b92f9585ff62a}, {0xa956547e9fd97ba0, 0xa956547e9fd97ba0}},  // ctr
    {{0, 0}, {0, 0}},  // gcm
    {{0, 0x6709d221d9b61aae}, {0xad54363e44bc69e4, 0xbdf0691bcfab5a11}},  // cbc
    {{0, 0xbd8ede3984eec1cb}, {0xb5d7af0c14e6dea6, 0x5975f47d9c6020b4}},  // cfb
    {{0, 0}, {0x138caae75be46961, 0x138caae75be46961}},  // ofb
    {{0, 0}, {0, 0}},  // xts
    {{0, 0}, {0, 0}},  // ccm
    {{0, 0}, {0xda62aa0a1a7d1442, 0x4914c7b3977a4d02}},  // cmac
  }},
  {"des-ede2", 0, {
    {{0x02bf11ebcf1776cf, 0x8086d5274967f874}, {0, 0}},  // ecb
    {{0xeab2b7eb4c413006, 0xeab2b7eb4c413006}, {0xe442e548d3c50b23, 0xe442e548d3c50b23}},  // ctr
    {{0, 0}, {0, 0}},  // gcm
    {{0, 0x6957491f6f975c83}, {0x4cec12062ec01c53, 0xa51ffaf2456d05fc}},  // cbc
    {{0, 0x8953904cf246b30d}, {0x0db116da6cc4eec3, 0x84434ce5d551db0d}},  // cfb
    {{0, 0}, {0x6fb33e0e4dc73a9d, 0x6fb33e0e4dc73a9d}},  // ofb
    {{0, 0}, {0, 0}},  // xts
    {{0, 0}, {0, 0}},  // ccm
    {{0, 0}, {0xae2399be728c0776, 0x01fe81ccb98f1aaf}},  // cmac
  }},
  {"des-ede3", 0, {
    {{0x635556aaa0ae1ddb, 0xbd4dac9d82597c44}, {0, 0}},  // ecb
    {{0x6cedf38e698b0c24, 0x6cedf38e698b0c24}, {0xeb6e601487793e70, 0xeb6e601487793e70}},  // ctr
    {{0, 0}, {0, 0}},  // gcm
    {{0, 0x5706e7e4fd0a63a6}, {0x69ca17cbfcbbe529, 0xd795c85e6ddf8b98}},  // cbc
    {{0, 0x75b4b4d34d308367}, {0x16c6db3f2f090fc3, 0x69f22d19a753f0de}},  // cfb
    {{0, 0}, {0x07bb804a3fc5f6f4, 0x07bb804a3fc5f6f4}},  // ofb
    {{0, 0}, {0, 0}},  // xts
    {{0, 0}, {0, 0}},  // ccm
    {{0, 0}, {0x01079707f95e408f, 0x07e66514ac0b1f79}},  // cmac
  }},
  {"lea-128", 0x6943d09c4c519b8a, {
    {{0xc32ff238ea364767, 0xa8e51ac86f3126be}, {0, 0}},  // ecb
    {{0xff8266630e57932a, 0xff8266630e57932a}, {0x0ca14e1ff1b328d1, 0x0ca14e1ff1b328d1}},  // ctr
    {{0x3a66d5d70870511b, 0x17388c549e973eec}, {0xbd8adfada160ed50, 0xc78802a6632df5fa}},  // gcm
    {{0, 0xaaf74f43a9fadf8b}, {0x7a7900ad32833366, 0xefbe61ad51acdcb3}},  // cbc
    {{0, 0x14593168c964ddfd}, {0x683de117f9a05017, 0x306d2f1720a750fd}},  // cfb
    {{0, 0}, {0xab8f9be431de7a0d, 0xab8f9be431de7a0d}},  // ofb
    {{0x6ad17e2a30a3e35b, 0xcbf692c14bf82715}, {0, 0}},  // xts
    {{0, 0}, {0x414c42c87f8073e4, 0x37037c35b5c09f37}},  // ccm
    {{0, 0}, {0x0450e1ba6c52ccba, 0x0dcd5bd3ff080b59}},  // cmac
  }},
  {"lea-192", 0xc23af8a6c44c934a, {
    {{0xee9c64ff574dbe78, 0x83225b8337e1b91a}, {0, 0}},  // ecb
    {{0xb87a1a14c801b12e, 0xb87a1a14c801b12e}, {0x1059106148434d39, 0x1059106148434d39}},  // ctr
    {{0x7c5aa48346e1e6ff, 0x69ebc44649a410fe}, {0x8a7000093cb9eb39, 0x44278c2f7962689c}},  // gcm
    {{0, 0x057df9431436de08}, {0x378962e34f02a56e, 0xcc58720f39a3486a}},  // cbc
    {{0, 0x8353148916e73f6d}, {0x4359f9011ab6ef70, 0xf1b4723c795f2aaa}},  // cfb
    {{0, 0}, {0xe0cc143653bb1116, 0xe0cc143653bb1116}},  // ofb
    {{0x62b3dd2a6a7d1711, 0x8ff8d629b853c215}, {0, 0}},  // xts
    {{0, 0}, {0xc6e047436bfccfd2, 0xfaeed85a27dbc450}},  // ccm
    {{0, 0}, {0x1fdddad52185709e, 0x6ac9ee6f9de3b892}},  // cmac
  }},
  {"lea-256", 0x8217b63b3bec6aaf, {
    {{0x564c4ab5833dfbdd, 0x02786be50d978519}, {0, 0}},  // ecb
    {{0xc051b2611c749a21, 0xc051b2611c749a21}, {0xa2137e4c8e4d52f5, 0xa2137e4c8e4d52f5}},  // ctr
    {{0xc797a956b6df335a, 0xcf605ca3f6687595}, {0x93761eff31c86b9b, 0x9aee4333048e2383}},  // gcm
    {{0, 0x8959680ffa2909b8}, {0x67fb8222509de882, 0x4b5038a62518be48}},  // cbc
    {{0, 0x16c673b768ecf8d1}, {0x26a2b2379440ce84, 0x2ee0db73b2738fca}},  // cfb
    {{0, 0}, {0xb5fa39b2a565b968, 0xb5fa39b2a565b968}},  // ofb
    {{0x9ff59164a328998d, 0x8cad57018e198077}, {0, 0}},  // xts
    {{0, 0}, {0xde368776ab48d15c, 0x84c0f91bc5630643}},  // ccm
    {{0, 0}, {0xd95eac3e29e979a7, 0x017a3a0fc47bce7b}},  // cmac
  }},
  {"seed-128", 0xd7513945a01a3cfd, {
    {{0x77c7ea989c6f7240, 0x19ed3d21bb57cd6b}, {0, 0}},  // ecb
    {{0x57af1203325c19fb, 0x57af1203325c19fb}, {0x316d43580fa5c838, 0x316d43580fa5c838}},  // ctr
    {{0x892d5302d4d3db6b, 0xcfcf4be292334a58}, {0x11de2ea04398a197, 0x23a15d8cfc33b09c}},  // gcm
    {{0, 0x85ead04b9cfa31f6}, {0x1f2a3adc5eda94ea, 0xf976dcafd55d782c}},  // cbc
    {{0, 0x8c0ff813ffc85f7c}, {0x3acd4dcdd3f7049c, 0x97f9b66ccfc655c5}},  // cfb
    {{0, 0}, {0xbfd37b19f663fbdc, 0xbfd37b19f663fbdc}},  // ofb
    {{0x920c303f7545180b, 0x421496f27567e865}, {0, 0}},  // xts
    {{0, 0}, {0xdcfa0b29da9899e1, 0xa9a16397730fc2f5}},  // ccm
    {{0, 0}, {0x22c9763a025b659a, 0x65ab4dfff6859756}},  // cmac
  }},
  {"sm4-128", 0x6f11a84653ce2684, {
    {{0xcaa35ea71e7a5404, 0x2d0eb6ade9686f3a}, {0, 0}},  // ecb
    {{0xd19cc5bce1cfc8ff, 0xd19cc5bce1cfc8ff}, {0x15018de0eb3dc901, 0x15018de0eb3dc901}},  // ctr
    {{0x40679a46c4a4c9ae, 0x113b344267602555}, {0xcec640134ef4990d, 0xb83a017f637b808a}},  // gcm
    {{0, 0x2149cee4b8fbef94}, {0xd43a1a3b2dd160a6, 0x1021206cf8a21435}},  // cbc
    {{0, 0xf37072984e98d0b5}, {0xf6a2742da739c013, 0x12d08b3ca5ce9dfd}},  // cfb
    {{0, 0}, {0xc6713d82b6c1f0c1, 0xc6713d82b6c1f0c1}},  // ofb
    {{0x28f99b339794d3f8, 0x7db46dc0b88dad90}, {0, 0}},  // xts
    {{0, 0}, {0xba1a7b4dfde2a97a, 0xaf632800ab2c275f}},  // ccm
    {{0, 0}, {0xc75acb8d54914496, 0x18a26a615c06bcab}},  // cmac
  }},
};
// clang-format on

}  // namespace warpseal
