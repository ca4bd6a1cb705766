// Gates.
#pragma once

#include "core/gates.h"

namespace warpseal::circuits {

struct Des1 {
    static constexpr int inputs = 6, outputs = 4, gates = 25;
    static constexpr Gate gate[gates] = {
        {0x49, 3, 0, 2},    {0x17, 6, 1, 5},   {0xbc, 7, 3, 0},   {0xcb, 8, 1, 5},
        {0x1b, 9, 7, 2},    {0x17, 6, 10, 3},  {0x61, 3, 5, 2},   {0x9d, 11, 12, 3},
        {0x69, 13, 6, 1},   {0x8d, 14, 10, 4}, {0x92, 4, 10, 9},  {0x69, 16, 5, 0},
        {0xcb, 15, 12, 17}, {0x9d, 18, 3, 1},  {0x96, 19, 5, 4},  {0xfd, 17, 14, 11},
        {0x69, 21, 4, 10},  {0x61, 22, 6, 7},  {0x8b, 6, 19, 17}, {0x87, 23, 1, 24},
        {0x92, 25, 14, 9},  {0xca, 6, 20, 26}, {0x0e, 23, 19, 9}, {0x61, 20, 11, 14},
        {0x9a, 29, 5, 24}};
    static constexpr uint8_t result[outputs] = {27, 28, 15, 30};
};

struct Des2 {
    static constexpr int inputs = 6, outputs = 4, gates = 23;
    static constexpr Gate gate[gates] = {
        {0xe8, 5, 1, 0},   {0x25, 6, 4, 0},    {0x64, 7, 5, 4},    {0xb1, 1, 6, 8},
        {0xb1, 9, 7, 2},   {0x5b, 7, 6, 5},    {0x71, 11, 4, 1},   {0x87, 10, 3, 12},
        {0x89, 1, 0, 13},  {0xa8, 13, 8, 5},   {0xed, 12, 9, 15},  {0x97, 16, 3, 5},
        {0x96, 17, 4, 10}, {0x96, 14, 2, 18},  {0xfb, 18, 15, 12}, {0xa9, 20, 10, 0},
        {0x1c, 19, 6, 5},  {0x96, 21, 22, 8},  {0xd8, 15, 11, 23}, {0x29, 24, 19, 4},
        {0x96, 25, 1, 13}, {0x27, 26, 16, 15}, {0x39, 27, 23, 13}};
    static constexpr uint8_t result[outputs] = {19, 26, 28, 13};
};

struct Des3 {
    static constexpr int inputs = 6, outputs = 4, gates = 25;
    static constexpr Gate gate[gates] = {
        {0x79, 4, 2, 1},   {0xac, 4, 3, 2},   {0x96, 7, 5, 1},   {0xd0, 4, 8, 1},
        {0xe6, 1, 6, 9},   {0x3d, 0, 3, 10},  {0x6c, 4, 5, 10},  {0x79, 12, 2, 0},
        {0x1c, 9, 5, 13},  {0x87, 14, 10, 1}, {0x16, 15, 3, 0},  {0x29, 11, 16, 15},
        {0x68, 12, 6, 0},  {0xeb, 18, 13, 8}, {0x2d, 13, 1, 19}, {0xec, 16, 18, 2},
        {0x4e, 20, 21, 3}, {0xeb, 17, 6, 0},  {0x1e, 23, 16, 9}, {0x96, 21, 17, 7},
        {0x1a, 25, 19, 6}, {0xd1, 24, 1, 26}, {0x74, 16, 27, 5}, {0x65, 0, 28, 8},
        {0x4b, 29, 26, 6}};
    static constexpr uint8_t result[outputs] = {17, 22, 27, 30};
};

struct Des4 {
    static constexpr int inputs = 6, outputs = 4, gates = 18;
    static constexpr Gate gate[gates] = {{0x86, 4, 3, 1},   {0xc9, 2, 6, 1},   {0x86, 2, 1, 4},
                                         {0x56, 8, 6, 4},   {0xd8, 7, 9, 0},   {0x13, 10, 3, 1},
                                         {0x79, 0, 9, 4},   {0x96, 12, 2, 1},  {0x1a, 11, 9, 13},
                                         {0x46, 14, 1, 0},  {0xe4, 15, 0, 3},  {0xe7, 4, 15, 6},
                                         {0xc2, 17, 13, 2}, {0x1e, 16, 5, 18}, {0x69, 19, 11, 8},
                                         {0x96, 20, 18, 5}, {0x27, 14, 10, 5}, {0x2e, 14, 5, 10}};
    static constexpr uint8_t result[outputs] = {21, 20, 22, 23};
};

struct Des5 {
    static constexpr int inputs = 6, outputs = 4, gates = 24;
    static constexpr Gate gate[gates] = {
        {0x6a, 3, 2, 0},    {0x6d, 5, 6, 2},   {0x78, 1, 2, 4},    {0x68, 7, 8, 3},
        {0xd2, 9, 4, 5},    {0x3a, 5, 3, 2},   {0x16, 6, 11, 3},   {0x9e, 7, 12, 4},
        {0x4a, 0, 13, 4},   {0x4d, 14, 1, 0},  {0x4a, 15, 1, 3},   {0x4b, 16, 12, 8},
        {0x1e, 10, 6, 17},  {0xf8, 18, 1, 7},  {0x27, 12, 7, 4},   {0x1b, 20, 18, 1},
        {0xb0, 19, 14, 21}, {0xfd, 6, 2, 1},   {0x63, 23, 16, 13}, {0x98, 9, 8, 5},
        {0x22, 25, 13, 6},  {0xc5, 11, 9, 25}, {0x69, 26, 27, 14}, {0x96, 22, 24, 28}};
    static constexpr uint8_t result[outputs] = {29, 28, 24, 21};
};

struct Des6 {
    static constexpr int inputs = 6, outputs = 4, gates = 23;
    static constexpr Gate gate[gates] = {
        {0x69, 3, 2, 0},   {0x95, 6, 4, 1},    {0x96, 4, 3, 0},    {0xa3, 2, 7, 8},
        {0xe7, 9, 4, 5},   {0xe1, 10, 0, 6},   {0x56, 1, 11, 8},   {0x8d, 6, 12, 8},
        {0x90, 12, 0, 13}, {0x72, 6, 2, 13},   {0x96, 15, 7, 5},   {0x2e, 14, 16, 4},
        {0xad, 17, 12, 5}, {0x94, 18, 17, 9},  {0x6d, 11, 17, 7},  {0xb1, 20, 16, 3},
        {0xa0, 10, 1, 0},  {0x59, 16, 22, 12}, {0x78, 23, 17, 14}, {0xb2, 19, 18, 24},
        {0x69, 21, 1, 25}, {0x51, 9, 7, 5},    {0x72, 26, 15, 27}};
    static constexpr uint8_t result[outputs] = {19, 21, 28, 24};
};

struct Des7 {
    static constexpr int inputs = 6, outputs = 4, gates = 23;
    static constexpr Gate gate[gates] = {
        {0x69, 1, 5, 3},    {0x1e, 6, 5, 2},   {0xa9, 1, 7, 4},   {0x71, 3, 2, 6},
        {0x75, 3, 9, 5},    {0x1e, 8, 10, 2},  {0xd4, 7, 11, 1},  {0x4a, 12, 5, 3},
        {0xe4, 13, 11, 3},  {0x4e, 9, 7, 4},   {0x47, 14, 0, 15}, {0xd2, 10, 8, 3},
        {0x96, 11, 17, 13}, {0x1c, 14, 0, 18}, {0x60, 19, 10, 8}, {0x37, 20, 5, 15},
        {0x68, 6, 17, 21},  {0x69, 22, 19, 3}, {0x69, 23, 2, 13}, {0xd8, 24, 18, 0},
        {0xa9, 17, 7, 25},  {0x28, 16, 9, 21}, {0x9e, 26, 27, 24}};
    static constexpr uint8_t result[outputs] = {16, 25, 28, 23};
};

struct Des8 {
    static constexpr int inputs = 6, outputs = 4, gates = 22;
    static constexpr Gate gate[gates] = {
        {0x62, 4, 0, 2},    {0x1e, 6, 4, 3},   {0x28, 7, 5, 0},    {0xb0, 0, 8, 3},
        {0x38, 9, 2, 2},    {0x74, 10, 4, 3},  {0xd6, 1, 7, 9},    {0x07, 11, 10, 0},
        {0x69, 12, 4, 13},  {0x15, 6, 11, 14}, {0xc6, 15, 7, 1},   {0xc1, 14, 5, 2},
        {0x8c, 17, 1, 7},   {0x96, 8, 11, 18}, {0x7d, 19, 17, 8},  {0x9a, 20, 5, 14},
        {0x37, 21, 15, 13}, {0x14, 17, 2, 3},  {0x17, 22, 23, 18}, {0x96, 24, 21, 19},
        {0x2d, 16, 25, 5},  {0xda, 26, 16, 25}};
    static constexpr uint8_t result[outputs] = {27, 21, 19, 26};
};

}  // namespace warpseal::circuits
