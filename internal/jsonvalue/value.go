// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"math"
	"math/big"
	"strconv"
)

// Kind is the kind of a Value: one of the seven of JSON, or the one that YAML adds.
type Kind uint8

// The kinds. Integers and floats are kinds of their own: 1 is not 1.0.
const (
	NullKind Kind = iota
	BoolKind
	IntKind
	FloatKind
	StringKind
	ArrayKind
	ObjectKind
	// TimestampKind is an unquoted YAML date or time. It has no canonical form.
	TimestampKind
)

var kindNames = [...]string{"null", "boolean", "integer", "float", "string", "array", "object", "timestamp"}

// String returns the name of the kind: "null", "boolean", "integer" and so on.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Value is an immutable JSON value; the zero Value is null. It is small and
// passed by value.
//
// A scalar carries itself. A container points either into the tape of the text
// that it was parsed from, or to the members that it was made of.
type Value struct {
	text string     // String: itself, with its escapes if it is escaped. Int, Float: the number's text, "" if it is in bits. Container: its canonical text where the source had it.
	tape *tape      // container of a parsed text
	made *composite // container made of values
	bits uint64     // Bool, Int, Float without text: the value. Container of a parsed text: its node.
	kind Kind
	// exact: text is the canonical form (of a number or a container, and of an escaped
	// string without its quotation marks).
	exact bool
	// escaped: text is a string as it was written in JSON. It is decoded when it is
	// asked for, since most of what a result holds never is.
	escaped bool
}

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Value Value
}

// composite is a container that was made of values instead of being parsed.
type composite struct {
	members []Member // an array's have no keys
	sorted  []uint32 // an object's members in the order of their keys
	odd     []bool   // marks keys that were no strings (YAML); nil if none is
}

// Null is the zero Value.
func Null() Value { return Value{} }

// Bool returns true or false as a Value.
func Bool(b bool) Value {
	v := Value{kind: BoolKind}
	if b {
		v.bits = 1
	}
	return v
}

// Int returns an integer.
func Int(n int64) Value { return Value{kind: IntKind, bits: uint64(n)} }

// BigInt returns an integer of any size.
func BigInt(n *big.Int) Value {
	if n.IsInt64() {
		return Int(n.Int64())
	}
	return Value{kind: IntKind, text: n.String(), exact: true}
}

// Float returns a floating-point number; 1.0 is not the integer 1. One that is
// not finite has no canonical form.
func Float(f float64) Value { return Value{kind: FloatKind, bits: math.Float64bits(f)} }

// String returns a string. The text must be UTF-8; one that is not has no
// canonical form.
func String(s string) Value { return Value{kind: StringKind, text: s} }

// Timestamp returns a YAML date or time, as it is written.
func Timestamp(text string) Value { return Value{kind: TimestampKind, text: text} }

// Array returns an array of the given elements, which it copies.
func Array(elements ...Value) Value {
	c := &composite{members: make([]Member, len(elements))}
	for i, e := range elements {
		c.members[i].Value = e
	}
	return Value{kind: ArrayKind, made: c}
}

// Object returns an object of the given members, which it copies. Of equal keys
// the last wins, in the place of the first.
func Object(members ...Member) Value {
	c := &composite{members: append([]Member(nil), members...)}
	c.settle()
	return Value{kind: ObjectKind, made: c}
}

// Mapping returns an object as YAML has them: some keys may be no strings. A member
// that is marked in odd, which is as long as members, has such a key; its Key is a text
// that is the same for keys that replace each other. Mapping keeps both slices.
func Mapping(members []Member, odd []bool) Value {
	c := &composite{members: members, odd: odd}
	c.settle()
	return Value{kind: ObjectKind, made: c}
}

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == NullKind }

// Bool reports whether v is true. It is false for any value that is not a boolean.
func (v Value) Bool() bool { return v.kind == BoolKind && v.bits != 0 }

// Text returns the string of a StringKind value, else "". It takes memory if the string
// was written with escapes, so it is best called once.
func (v Value) Text() string {
	switch {
	case v.kind != StringKind:
		return ""
	case v.escaped:
		return unescape(v.text)
	}
	return v.text
}

// Timestamp returns the text of a TimestampKind value, else "".
func (v Value) Timestamp() string {
	if v.kind != TimestampKind {
		return ""
	}
	return v.text
}

// Int64 returns an integer that fits.
func (v Value) Int64() (int64, bool) {
	if v.kind != IntKind {
		return 0, false
	}
	if v.text == "" {
		return int64(v.bits), true
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil
}

// Float64 returns an integer or a float as a float, rounded where it must be.
func (v Value) Float64() (float64, bool) {
	switch v.kind {
	case IntKind:
		if v.text == "" {
			return float64(int64(v.bits)), true
		}
	case FloatKind:
		if v.text == "" {
			return math.Float64frombits(v.bits), true
		}
	default:
		return 0, false
	}
	f, _ := strconv.ParseFloat(v.text, 64) // out of range: ±Inf, as wanted
	return f, true
}

// Len returns the number of an array's elements or an object's members, else 0.
func (v Value) Len() int {
	switch {
	case v.tape != nil:
		return node(v.bits).second()
	case v.made != nil:
		return len(v.made.members)
	}
	return 0
}

// Index returns element i of an array. It panics if there is none.
func (v Value) Index(i int) Value {
	if v.kind != ArrayKind {
		panic("jsonvalue: Index of a value that is no array")
	}
	if v.tape != nil {
		return v.tape.value(v.tape.index(node(v.bits), i))
	}
	return v.made.members[i].Value
}

// Member returns member i of an object, in document order. It panics if there is none.
func (v Value) Member(i int) (string, Value) {
	if v.kind != ObjectKind {
		panic("jsonvalue: Member of a value that is no object")
	}
	if v.tape != nil {
		n := node(v.bits)
		return v.tape.keyText(v.tape.key(n, i)), v.tape.value(v.tape.index(n, i))
	}
	m := v.made.members[i]
	return m.Key, m.Value
}

// StringKey reports whether the key of member i is a string. Only a Mapping has others.
func (v Value) StringKey(i int) bool {
	return v.made == nil || v.made.odd == nil || !v.made.odd[i]
}

// Get returns the member of an object with the given key.
func (v Value) Get(key string) (Value, bool) {
	if v.kind != ObjectKind {
		return Value{}, false
	}
	if v.tape != nil {
		n := node(v.bits)
		i := v.tape.find(n, key)
		if i < 0 {
			return Value{}, false
		}
		return v.tape.value(v.tape.index(n, i)), true
	}
	return v.made.get(key)
}

// Has reports whether v is an object that has the given key.
func (v Value) Has(key string) bool {
	switch {
	case v.kind != ObjectKind:
		return false
	case v.tape != nil:
		return v.tape.find(node(v.bits), key) >= 0
	}
	_, ok := v.made.get(key)
	return ok
}

// Scalar returns a string as it is and a number or boolean in its canonical
// form. Null, containers, timestamps and numbers that are not finite have none.
func (v Value) Scalar() (string, bool) {
	switch v.kind {
	case StringKind:
		return v.Text(), true
	case BoolKind:
		if v.bits != 0 {
			return "true", true
		}
		return "false", true
	case IntKind:
		if v.text == "" {
			return strconv.FormatInt(int64(v.bits), 10), true
		}
		return v.text, true
	case FloatKind:
		if v.exact {
			return v.text, true
		}
		f, _ := v.Float64()
		b, err := appendFloat(nil, f)
		return string(b), err == nil
	}
	return "", false
}

// Usable reports whether v is not null, "", {} or []. Zero and false are usable, and so
// are [[]] and {"a":null}.
func (v Value) Usable() bool {
	switch v.kind {
	case NullKind:
		return false
	case StringKind:
		return v.text != ""
	case ArrayKind, ObjectKind:
		return v.Len() > 0
	}
	return true
}
