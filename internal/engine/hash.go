// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

const (
	hashPrefix = "sha256:"
	hashLength = len(hashPrefix) + 2*sha256.Size
)

// buffers hold canonical forms while they are hashed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keepBuffer bounds what an idle buffer may hold on to.
const keepBuffer = 1 << 20

func releaseBuffer(p *[]byte, b []byte) {
	if cap(b) <= keepBuffer {
		*p = b[:0]
		buffers.Put(p)
	}
}

// hash sets what follows from the hash of what was observed.
func (r *Reading) hash(observed jsonvalue.Value) error {
	p := buffers.Get().(*[]byte)
	b, err := observed.AppendCanonical(*p)
	defer releaseBuffer(p, b)
	if err != nil {
		return refusal(err)
	}
	sum := sha256.Sum256(b)

	// The hash and the ids that are made of it are one string.
	var room [hashLength + len("obs-") + 12 + len("call-") + 12]byte
	text := appendHash(room[:0], sum)
	twelve := text[len(hashPrefix) : len(hashPrefix)+12]
	text = append(append(text, "obs-"...), twelve...)
	text = append(append(text, "call-"...), twelve...)
	whole := string(text)
	r.ContentHash = whole[:hashLength]
	r.ids = whole[len(r.ContentHash):]
	return nil
}

func appendHash(dst []byte, sum [sha256.Size]byte) []byte {
	dst = append(dst, hashPrefix...)
	return hex.AppendEncode(dst, sum[:])
}

// The ids of a reading that was not hashed, because Read failed, are "".
func (r *Reading) observationID() string { return r.ids[:r.idsMiddle()] }
func (r *Reading) toolCallID() string    { return r.ids[r.idsMiddle():] }
func (r *Reading) idsMiddle() int        { return min(len(r.ids), len("obs-")+12) }

// Hash returns the content hash of v: "sha256:" and the hexadecimal SHA-256 of
// its canonical form. Errors are those of AppendCanonical.
func Hash(v jsonvalue.Value) (string, error) {
	var r Reading
	if err := r.hash(v); err != nil {
		return "", err
	}
	return r.ContentHash, nil
}
