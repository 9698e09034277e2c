// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"math"
	"math/big"
)

// Equal reports whether a and b are the same data: numbers are compared by value
// (1 and 1.0 are equal), the order of keys does not count. Numbers that are not
// finite equal themselves.
func Equal(a, b Value) bool {
	type pair struct{ a, b Value }
	stack := []pair{{a, b}}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if p.a.kind != p.b.kind {
			if !equalNumbers(p.a, p.b) {
				return false
			}
			continue
		}
		switch p.a.kind {
		case BoolKind:
			if p.a.bits != p.b.bits {
				return false
			}
		case StringKind, TimestampKind:
			if !equalTexts(p.a, p.b) {
				return false
			}
		case IntKind, FloatKind:
			if !equalNumbers(p.a, p.b) {
				return false
			}
		case ArrayKind:
			if p.a.Len() != p.b.Len() {
				return false
			}
			for i := range p.a.Len() {
				stack = append(stack, pair{p.a.Index(i), p.b.Index(i)})
			}
		case ObjectKind:
			if p.a.Len() != p.b.Len() {
				return false
			}
			for i := range p.a.Len() {
				key, x := p.a.Member(i)
				y, ok := p.b.Get(key)
				if !ok || !p.a.StringKey(i) {
					return false
				}
				stack = append(stack, pair{x, y})
			}
		}
	}
	return true
}

func equalTexts(a, b Value) bool {
	if a.escaped == b.escaped && a.text == b.text {
		return true
	}
	return (a.escaped || b.escaped) && a.Text() == b.Text()
}

func equalNumbers(a, b Value) bool {
	switch {
	case a.kind == IntKind && b.kind == IntKind:
		if a.text != "" && b.text != "" {
			return a.text == b.text
		}
		x, okX := a.Int64()
		y, okY := b.Int64()
		return okX && okY && x == y
	case a.kind == FloatKind && b.kind == FloatKind:
		x, _ := a.Float64()
		y, _ := b.Float64()
		return x == y || math.IsNaN(x) && math.IsNaN(y)
	case a.kind == FloatKind && b.kind == IntKind:
		a, b = b, a
	case a.kind != IntKind || b.kind != FloatKind:
		return false
	}
	f, _ := b.Float64()
	if math.IsInf(f, 0) || f != math.Trunc(f) { // NaN too
		return false
	}
	if n, ok := a.Int64(); ok {
		return new(big.Float).SetInt64(n).Cmp(big.NewFloat(f)) == 0
	}
	n, ok := new(big.Int).SetString(a.text, 10)
	if !ok {
		return false
	}
	x, _ := big.NewFloat(f).Int(nil)
	return n.Cmp(x) == 0
}
