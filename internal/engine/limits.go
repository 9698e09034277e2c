// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// The published limits of a document. They are small because documents are made
// for one observation, and because whoever seals must be able to say that no
// input makes it slow.
const (
	maxDocumentBytes = 131_072
	maxDepth         = 32     // the root is level 1, scalars count
	maxNodes         = 4_096  // each value and each key
	maxStringLength  = 16_384 // characters of a string or key
)

// checkLimits holds a value to the limits of a document.
func checkLimits(v jsonvalue.Value) error {
	type level struct {
		v    jsonvalue.Value
		next int
	}
	nodes := 0
	// enter counts a value and reports whether it has children to go through.
	enter := func(v jsonvalue.Value, depth int) (bool, error) {
		nodes++
		switch {
		case depth > maxDepth:
			return false, errorf(CodeLimitExceeded, "document nested more than %d levels deep", maxDepth)
		case nodes > maxNodes:
			return false, errorf(CodeLimitExceeded, "document of more than %d values and keys", maxNodes)
		case v.Kind() == jsonvalue.StringKind && utf8.RuneCountInString(v.Text()) > maxStringLength:
			return false, errorf(CodeLimitExceeded, "text of more than %d characters", maxStringLength)
		}
		return v.Len() > 0, nil
	}
	inside, err := enter(v, 1)
	if !inside || err != nil {
		return err
	}
	for stack := []level{{v: v}}; len(stack) > 0; {
		l := &stack[len(stack)-1]
		if l.next == l.v.Len() {
			stack = stack[:len(stack)-1]
			continue
		}
		i := l.next
		l.next++
		var child jsonvalue.Value
		if l.v.Kind() == jsonvalue.ArrayKind {
			child = l.v.Index(i)
		} else {
			var key string
			key, child = l.v.Member(i)
			if l.v.StringKey(i) {
				if nodes++; utf8.RuneCountInString(key) > maxStringLength {
					return errorf(CodeLimitExceeded, "key of more than %d characters", maxStringLength)
				}
			}
		}
		inside, err := enter(child, len(stack)+1)
		if err != nil {
			return err
		}
		if inside {
			stack = append(stack, level{v: child})
		}
	}
	return nil
}
