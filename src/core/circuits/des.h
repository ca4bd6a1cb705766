// Gates of the S-boxes of DES (FIPS 46-3, Appendix 1). Input 0 is the first of six bits, output 0
// the first of four.
#pragma once

#include "core/gates.h"

namespace warpseal::circuits {

struct Des1 {
    static constexpr int inputs = 6, outputs = 4, gates = 25;
    static constexpr Gate gate[gates] = {
        {0x49, 3, 0, 2},   {0xe8, 1, 5, 6},   {0x4e, 0, 7, 3},   {0xda, 8, 5, 1},
        {0x4e, 9, 7, 2},   {0xe8, 10, 6, 3},  {0x92, 9, 10, 4},  {0x96, 12, 5, 0},
        {0x7c, 2, 5, 3},   {0xad, 14, 8, 6},  {0xc3, 15, 1, 1},  {0x95, 13, 16, 10},
        {0xa6, 11, 17, 4}, {0xb6, 18, 7, 6},  {0xf8, 17, 10, 6}, {0x9d, 20, 3, 1},
        {0x1b, 13, 6, 21}, {0x93, 1, 19, 22}, {0x79, 23, 16, 9}, {0x69, 21, 5, 4},
        {0x27, 24, 25, 6}, {0xe0, 19, 21, 9}, {0xe2, 10, 4, 16}, {0x6d, 16, 25, 11},
        {0xa9, 29, 5, 22},
    };
    static constexpr uint8_t result[outputs] = {26, 27, 28, 30};
};

struct Des2 {
    static constexpr int inputs = 6, outputs = 4, gates = 22;
    static constexpr Gate gate[gates] = {
        {0x17, 5, 1, 0},   {0x34, 6, 0, 4},    {0x3d, 7, 5, 1},   {0x8e, 8, 4, 1},
        {0xcb, 5, 4, 0},   {0xe4, 6, 1, 10},   {0x8b, 7, 2, 11},  {0x59, 9, 3, 12},
        {0x89, 1, 0, 13},  {0x3b, 13, 5, 4},   {0x06, 11, 15, 9}, {0x86, 16, 5, 3},
        {0x96, 17, 2, 4},  {0x69, 14, 18, 12}, {0x13, 18, 15, 9}, {0x85, 6, 8, 19},
        {0x69, 21, 0, 10}, {0xe2, 8, 22, 20},  {0xd6, 23, 19, 4}, {0x69, 24, 13, 1},
        {0x0b, 20, 25, 5}, {0x59, 26, 13, 22},
    };
    static constexpr uint8_t result[outputs] = {19, 25, 27, 13};
};

struct Des3 {
    static constexpr int inputs = 6, outputs = 4, gates = 23;
    static constexpr Gate gate[gates] = {
        {0x53, 4, 3, 2},   {0x96, 6, 5, 1},    {0x79, 4, 2, 1},    {0x87, 0, 7, 8},
        {0x2c, 4, 5, 9},   {0x69, 4, 5, 2},    {0xa3, 1, 10, 11},  {0xc2, 12, 0, 3},
        {0x18, 9, 11, 7},  {0x3e, 13, 3, 14},  {0xf1, 1, 9, 11},   {0xae, 16, 9, 7},
        {0xa4, 2, 17, 0},  {0x6b, 10, 3, 17},  {0xa3, 19, 5, 3},   {0x96, 18, 7, 20},
        {0x54, 20, 11, 8}, {0x5e, 9, 3, 22},   {0x58, 16, 15, 23}, {0x0e, 24, 22, 19},
        {0x27, 23, 5, 25}, {0x74, 26, 22, 21}, {0x59, 27, 0, 7},
    };
    static constexpr uint8_t result[outputs] = {15, 21, 25, 28};
};

struct Des4 {
    static constexpr int inputs = 6, outputs = 4, gates = 18;
    static constexpr Gate gate[gates] = {
        {0x79, 2, 4, 1},   {0x6d, 3, 4, 1},   {0x56, 2, 1, 7},   {0x95, 7, 6, 4},
        {0xb8, 8, 0, 9},   {0x94, 9, 4, 0},   {0x96, 11, 1, 2},  {0x15, 10, 1, 3},
        {0xe6, 9, 12, 13}, {0xa7, 1, 14, 0},  {0x7e, 7, 4, 15},  {0x58, 16, 2, 12},
        {0x8d, 15, 0, 13}, {0x69, 18, 3, 6},  {0x78, 19, 17, 5}, {0x96, 17, 5, 20},
        {0x2e, 10, 5, 14}, {0xe4, 14, 10, 5},
    };
    static constexpr uint8_t result[outputs] = {20, 21, 22, 23};
};

struct Des5 {
    static constexpr int inputs = 6, outputs = 4, gates = 24;
    static constexpr Gate gate[gates] = {
        {0x6a, 3, 2, 0},    {0x6d, 5, 6, 2},    {0x67, 7, 3, 0},   {0x9a, 8, 5, 2},
        {0xb9, 9, 4, 0},    {0x64, 7, 9, 4},    {0x93, 5, 11, 3},  {0x9b, 0, 12, 2},
        {0x69, 0, 1, 3},    {0x6a, 4, 2, 14},   {0xe8, 9, 15, 6},  {0x8d, 16, 15, 3},
        {0x6c, 12, 17, 6},  {0xc3, 14, 10, 14}, {0x81, 3, 19, 7},  {0x6b, 20, 2, 1},
        {0x47, 13, 18, 21}, {0x36, 11, 7, 4},   {0x2e, 23, 1, 22}, {0xe1, 22, 10, 24},
        {0x69, 7, 18, 10},  {0x7c, 11, 19, 6},  {0x4b, 27, 17, 4}, {0x69, 25, 26, 28},
    };
    static constexpr uint8_t result[outputs] = {29, 26, 28, 24};
};

struct Des6 {
    static constexpr int inputs = 6, outputs = 4, gates = 23;
    static constexpr Gate gate[gates] = {
        {0x96, 3, 2, 0},   {0x69, 6, 4, 2},   {0x63, 4, 1, 6},    {0x1b, 7, 8, 2},
        {0x24, 4, 9, 5},   {0xb4, 10, 6, 0},  {0x63, 11, 7, 1},   {0x5c, 7, 12, 6},
        {0x1a, 6, 2, 13},  {0x69, 14, 8, 5},  {0x16, 13, 12, 0},  {0x2e, 4, 15, 16},
        {0x83, 5, 17, 12}, {0x16, 18, 9, 17}, {0xf4, 11, 16, 3},  {0xd2, 17, 20, 8},
        {0x2e, 21, 3, 15}, {0x0e, 20, 16, 0}, {0x6c, 23, 12, 15}, {0x17, 18, 19, 24},
        {0x69, 25, 22, 1}, {0xae, 9, 8, 5},   {0x1b, 26, 14, 27},
    };
    static constexpr uint8_t result[outputs] = {19, 22, 28, 24};
};

struct Des7 {
    static constexpr int inputs = 6, outputs = 4, gates = 23;
    static constexpr Gate gate[gates] = {
        {0x69, 1, 5, 3},   {0xc9, 2, 6, 5},    {0x4d, 6, 3, 2},    {0x47, 7, 4, 8},
        {0x93, 7, 6, 1},   {0x96, 4, 10, 2},   {0xe8, 1, 7, 11},   {0xb1, 12, 11, 3},
        {0x35, 0, 9, 13},  {0x5b, 12, 5, 3},   {0x37, 6, 3, 2},    {0x82, 16, 6, 5},
        {0xd6, 17, 13, 0}, {0xa7, 16, 18, 15}, {0x75, 19, 9, 5},   {0x4e, 11, 10, 3},
        {0x64, 3, 21, 20}, {0x96, 22, 6, 18},  {0x69, 15, 2, 23},  {0xd1, 18, 0, 24},
        {0x6c, 21, 25, 7}, {0x9f, 20, 14, 8},  {0x97, 26, 27, 24},
    };
    static constexpr uint8_t result[outputs] = {14, 25, 28, 23};
};

struct Des8 {
    static constexpr int inputs = 6, outputs = 4, gates = 22;
    static constexpr Gate gate[gates] = {
        {0xac, 4, 2, 3},   {0xa7, 2, 4, 0},    {0xe1, 7, 4, 3},    {0xd7, 8, 5, 0},
        {0x1e, 0, 3, 9},   {0xd2, 6, 4, 10},   {0x43, 10, 8, 1},   {0x83, 12, 11, 7},
        {0x96, 13, 4, 1},  {0xcd, 7, 14, 11},  {0x12, 12, 15, 11}, {0x3e, 14, 5, 2},
        {0xc8, 17, 1, 8},  {0xbe, 17, 2, 3},   {0x0d, 16, 18, 19}, {0x96, 11, 9, 18},
        {0xf8, 9, 21, 2},  {0x9a, 22, 5, 14},  {0x96, 20, 21, 23}, {0x6a, 15, 1, 8},
        {0x87, 25, 24, 5}, {0xc3, 24, 26, 24},
    };
    static constexpr uint8_t result[outputs] = {27, 23, 21, 26};
};

}  // namespace warpseal::circuits
