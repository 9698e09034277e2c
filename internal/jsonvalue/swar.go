// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Strings are looked through eight bytes at a time. Each of these functions
// works on the bytes of a word side by side and marks a byte by its highest bit.

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// word returns the eight bytes of s from i on; the first one is the lowest.
func word(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// load is word without a check. The caller knows that the eight bytes are there, and says
// why: in a run it is runEnd.
func load(s string, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))[:])
}

// copy32 copies the first 32 bytes of a text, which must have them. It is a copy without a
// call, because memory that is a string's cannot be what is written to.
func copy32(dst *[32]byte, text string) {
	*dst = *(*[32]byte)(unsafe.Pointer(unsafe.StringData(text)))
}

// special is not zero if a byte of w is a quotation mark, a backslash or a
// control character: something that a JSON string cannot hold as it is.
func special(w uint64) uint64 {
	// x-0x21 borrows into the highest bit of a byte that is below 0x21, which after
	// changing one bit a quotation mark is, too, and a space is not; x-1 borrows into
	// that of a zero. ^w and ^b keep bytes out that had the bit anyway.
	const twos, backslashes = 2 * lowBits, '\\' * lowBits
	b := w ^ backslashes
	return (((w^twos)-0x21*lowBits)&^w | (b-lowBits)&^b) & highBits
}

// firstMark is which byte is marked first. Only marks above the first may be
// wrong, by a borrow.
func firstMark(m uint64) int { return bits.TrailingZeros64(m) / 8 }

// leadingBytes is how many of the first bytes of w are c.
func leadingBytes(w uint64, c byte) int { return bits.TrailingZeros64(w^uint64(c)*lowBits) / 8 }

// firstByte is how many bytes of w stand before the first c, 8 if there is none.
func firstByte(w uint64, c byte) int {
	x := w ^ uint64(c)*lowBits
	return bits.TrailingZeros64((x-lowBits)&^x&highBits) / 8
}

// leadingDigits is how many of the first bytes of w are decimal digits.
func leadingDigits(w uint64) int {
	// A digit has the high half 3, and keeps it if 6 is added. A sum carries only out of
	// bytes that are no digits, so the first one that is none is marked rightly.
	const threes, sixes, highHalves = 0x30 * lowBits, 6 * lowBits, 0xF0 * lowBits
	return bits.TrailingZeros64(((w^threes)|((w+sixes)^threes))&highHalves) / 8
}

// bytesOf returns the bytes of s without copying them. They must not be written to,
// and are not kept longer than s.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
