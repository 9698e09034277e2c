// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import "strings"

// String writes the protocol in one canonical spelling. Parsing it gives the
// same tree, places aside.
func (p *Protocol) String() string {
	var b strings.Builder
	printSequence(&b, p.root)
	return b.String()
}

func printSequence(b *strings.Builder, s *sequence) {
	for i, a := range s.atoms {
		if i > 0 {
			b.WriteByte('.')
		}
		switch a := a.(type) {
		case *choice:
			b.WriteString(a.direction.String())
			if !a.braces {
				printBranch(b, &a.branches[0])
				continue
			}
			b.WriteByte('{')
			for i := range a.branches {
				if i > 0 {
					b.WriteString(", ")
				}
				printBranch(b, &a.branches[i])
			}
			b.WriteByte('}')
		case *loop:
			b.WriteString("rec " + a.name + ".")
			printSequence(b, a.body)
		case *jump:
			b.WriteString(a.name)
		case *stop:
			b.WriteString("end")
		}
	}
}

func printBranch(b *strings.Builder, br *branch) {
	b.WriteString(br.label)
	if len(br.clause) > 0 {
		b.WriteString("(" + itemsText(br.clause) + ")")
	}
	if br.body != nil {
		b.WriteByte('.')
		printSequence(b, br.body)
	}
}

// itemsText writes the items of a clause, without its parentheses.
func itemsText(items []item) string {
	var b strings.Builder
	for i := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		it := &items[i]
		b.WriteString(it.field + " " + it.op.String() + " ")
		if it.name != "" {
			b.WriteString(it.name)
		} else {
			b.WriteString(it.literal.String())
		}
	}
	return b.String()
}

// Dump writes the tree with all that the text leaves to the reader: where a
// sequence begins and ends, what a name is. Two protocols have the same dump
// exactly if they are the same tree. It is meant for tests and for the eye.
//
//	!a.?{b, c(x as p)}.rec X.!d.X
//	seq(!a ?{b c[x as p]} rec X seq(!d var X))
func (p *Protocol) Dump() string {
	var b strings.Builder
	dumpSequence(&b, p.root)
	return b.String()
}

func dumpSequence(b *strings.Builder, s *sequence) {
	b.WriteString("seq(")
	for i, a := range s.atoms {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch a := a.(type) {
		case *choice:
			b.WriteString(a.direction.String())
			if !a.braces {
				dumpBranch(b, &a.branches[0])
				continue
			}
			b.WriteByte('{')
			for i := range a.branches {
				if i > 0 {
					b.WriteByte(' ')
				}
				dumpBranch(b, &a.branches[i])
			}
			b.WriteByte('}')
		case *loop:
			b.WriteString("rec " + a.name + " ")
			dumpSequence(b, a.body)
		case *jump:
			b.WriteString("var " + a.name)
		case *stop:
			b.WriteString("end")
		}
	}
	b.WriteByte(')')
}

func dumpBranch(b *strings.Builder, br *branch) {
	b.WriteString(br.label)
	if len(br.clause) > 0 {
		b.WriteString("[" + itemsText(br.clause) + "]")
	}
	if br.body != nil {
		b.WriteByte(':')
		dumpSequence(b, br.body)
	}
}
