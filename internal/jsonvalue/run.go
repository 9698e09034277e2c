// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

// The words of JSON, as load returns them.
const (
	wordTrue  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	wordFalse = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
	wordNull  = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
)

// runEnd is how far before the end of the text a run ends, so that it can look at words
// without asking whether there is one.
//
// What is loaded starts where the run was just seen not to be past its end, or up to 8
// bytes later: white space 1 later, the fraction of a number up to 8, since numbers of eight
// digits are left to scan. After a fraction one more byte is looked at, so 17 would do. The
// rest is room for a mistake.
const runEnd = 32

// run scans the elements or members of f from i on, as long as they are what most texts
// consist of: members with the keys that are expected, and values that are strings, short
// numbers or words. It stops at whatever else it finds, which it leaves to scan, and
// returns where that is.
//
// It could be left out, and scan would find the same. It is here because it calls nothing,
// so that the little that it needs can stay in registers; that is most of what makes
// scanning fast.
func (s *scanner) run(f *frame, i int) (_ int, at place, beside node) {
	text, pending, keys := s.text, s.pending, s.keys
	end := len(text) - runEnd
	exact, seen := f.exact, s.seen
	var coming []uint32 // the keys that are expected
	if f.following {
		coming = s.lists[f.next:f.last]
	}
	object := f.closer == '}'
items:
	for i <= end && len(pending) < cap(pending) {
		if text[i] <= ' ' {
			exact = 0
			for i <= end && text[i] <= ' ' && spaces>>text[i]&1 != 0 {
				i += 1 + leadingBytes(load(text, i+1), ' ')
			}
			if i > end {
				break
			}
		}
		at, beside = atItem, 0
		if object {
			if len(coming) == 0 {
				break
			}
			k := &keys[coming[0]]
			last := i + int(k.skip)
			if last > end || (load(text, i)&k.mask^k.head)|(load(text, last)&k.mask^k.tail) != 0 {
				break
			}
			// The words lie before last. Where the key was first met depends on more than is
			// seen here, so that is checked.
			first := k.node.first()
			for j := 8; j < int(k.skip); j += 8 {
				if load(text, i+j) != word(text, first+j) {
					break items
				}
			}
			f.key = coming[0]
			coming = coming[1:]
			i += int(k.size)
			at, beside = atValue, flagBeside
			if text[i] <= ' ' {
				exact, beside = 0, 0
				for i <= end && text[i] <= ' ' && spaces>>text[i]&1 != 0 {
					i += 1 + leadingBytes(load(text, i+1), ' ')
				}
			}
			if i > end {
				break
			}
		}
		w := load(text, i)
		n := flagExact
		j, cut := i, 0 // where the value ends, and how much of its end is not canonical
		switch c := byte(w); {
		case c == '"':
			n |= node(StringKind)
			for j++; ; {
				if j > end {
					break items
				}
				w := load(text, j)
				seen |= w
				m := special(w)
				if m == 0 {
					j += 8
					continue
				}
				j += firstMark(m)
				if text[j] == '"' {
					break
				}
				e := plainEscape[text[j+1]]
				if text[j] != '\\' || e == 0 {
					break items
				}
				n = n&(e|^flagExact) | flagEscaped
				j += 2
			}
			j++
		case isDigit(c):
			count := leadingDigits(w)
			j += count
			next := text[j]
			if count == 8 || c == '0' && count > 1 || next|0x20 == 'e' {
				break items
			}
			if next != '.' {
				n |= node(IntKind)
				break
			}
			count = leadingDigits(load(text, j+1))
			j += 1 + count
			if count == 0 || count == 8 || c == '0' || text[j]|0x20 == 'e' {
				break items
			}
			n |= node(FloatKind)
			for ; count-cut > 1 && text[j-1-cut] == '0'; cut++ {
				beside, exact = 0, 0
			}
		case uint32(w) == wordTrue:
			n |= node(BoolKind) | flagTrue
			j += 4
		case w&(1<<40-1) == wordFalse:
			n |= node(BoolKind)
			j += 5
		case uint32(w) == wordNull:
			n |= node(NullKind)
			j += 4
		default:
			break items
		}
		n |= beside | node(i)<<firstShift | node(j-cut-i)<<secondShift
		i = j
		pending = append(pending, n) // there is room
		exact &= n
		if text[i] != ',' {
			at = atEnd
			break
		}
		i++
		at, beside = atItem, 0
	}
	if f.following {
		f.next = f.last - uint32(len(coming))
	}
	f.exact, s.seen = exact, seen
	s.pending = s.pending[:len(pending)]
	return i, at, beside
}
