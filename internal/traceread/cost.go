// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// A few bytes of text become an object of some hundred: {} is a span. So the memory
// that a request takes is estimated before it is decoded.

// maxNesting is how many levels a request may have. The general decoders have no
// bound, and a stack that is full ends the program. JSON has three levels for each
// list in a list, protobuf two.
const maxNesting = 10_000

var errNested = errors.New("nested too deeply")

// Bytes that a decoded object takes, about: its own, those of the slice that it
// stands in, and those that its facts take later.
const (
	costOfSpan     = 768
	costOfGroup    = 256 // a resource or a scope
	costOfEvent    = 96
	costOfLink     = 160
	costOfKeyValue = 64
	costOfValue    = 32
)

// jsonCost returns how many bytes a request takes when it is decoded, about, and
// how deep it is nested. The levels of a request are known: a span is an object on
// the seventh.
func jsonCost(text []byte) (cost int64, nesting int) {
	const groups, spans = 7, 7 // groups are above
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{':
			switch depth++; {
			case depth < groups:
				cost += costOfGroup
			case depth == spans:
				cost += costOfSpan
			default:
				cost += costOfKeyValue
			}
			nesting = max(nesting, depth)
		case '[':
			depth++
			nesting = max(nesting, depth)
		case '}', ']':
			depth--
		}
	}
	return cost, nesting
}

// mostOfJSON is more than jsonCost returns for a text, and soon found out.
func mostOfJSON(text []byte) int64 {
	return costOfSpan * int64(bytes.Count(text, []byte("{")))
}

// message is a message of OTLP in protobuf.
type message uint8

const (
	noMessage message = iota
	requestMessage
	resourceSpansMessage
	resourceMessage
	entityMessage
	keyMessage // a string, of which there are many
	scopeSpansMessage
	scopeMessage
	spanMessage
	eventMessage
	linkMessage
	keyValueMessage
	valueMessage
	arrayMessage
	listMessage
)

// layouts are what is known of each message: how many bytes it takes when it is
// decoded, and which of its fields hold messages.
var layouts = [...]struct {
	cost   int64
	fields [16]message
}{
	requestMessage:       {0, [16]message{1: resourceSpansMessage}},
	resourceSpansMessage: {costOfGroup, [16]message{1: resourceMessage, 2: scopeSpansMessage}},
	resourceMessage:      {0, [16]message{1: keyValueMessage, 3: entityMessage}},
	entityMessage:        {costOfGroup, [16]message{3: keyMessage, 4: keyMessage}},
	keyMessage:           {costOfValue, [16]message{}},
	scopeSpansMessage:    {costOfGroup, [16]message{1: scopeMessage, 2: spanMessage}},
	scopeMessage:         {0, [16]message{3: keyValueMessage}},
	spanMessage:          {costOfSpan, [16]message{9: keyValueMessage, 11: eventMessage, 13: linkMessage}},
	eventMessage:         {costOfEvent, [16]message{3: keyValueMessage}},
	linkMessage:          {costOfLink, [16]message{4: keyValueMessage}},
	keyValueMessage:      {costOfKeyValue, [16]message{2: valueMessage}},
	valueMessage:         {costOfValue, [16]message{5: arrayMessage, 6: listMessage}},
	arrayMessage:         {costOfValue, [16]message{1: valueMessage}},
	listMessage:          {costOfValue, [16]message{1: keyValueMessage}},
}

// protobufCost is jsonCost for protobuf. It reads as far as the text is valid.
func protobufCost(text []byte) (cost int64, nesting int) {
	type open struct {
		of   message
		text []byte // what is left of it
	}
	stack := []open{{requestMessage, text}}
	for len(stack) > 0 && len(stack) <= maxNesting+1 {
		top := &stack[len(stack)-1]
		if len(top.text) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		number, kind, n := protowire.ConsumeTag(top.text)
		if n < 0 {
			return cost, nesting
		}
		layout := &layouts[top.of]
		if kind != protowire.BytesType || int(number) >= len(layout.fields) || layout.fields[number] == noMessage {
			skipped := protowire.ConsumeFieldValue(number, kind, top.text[n:])
			if skipped < 0 {
				return cost, nesting
			}
			top.text = top.text[n+skipped:]
			continue
		}
		inner, size := protowire.ConsumeBytes(top.text[n:])
		if size < 0 {
			return cost, nesting
		}
		top.text = top.text[n+size:]
		of := layout.fields[number]
		cost += layouts[of].cost
		if of != keyMessage {
			nesting = max(nesting, len(stack))
			stack = append(stack, open{of, inner})
		}
	}
	return cost, nesting
}
