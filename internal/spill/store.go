// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package spill puts texts aside that are written later, in another order than
// that in which they come: in memory as long as they are few, then in a
// temporary file that nobody else sees.
package spill

import (
	"cmp"
	"errors"
	"io"
	"os"
)

// Store keeps texts. The zero Store keeps [MemoryLimit] bytes in memory. It is
// for one goroutine at a time.
type Store struct {
	// Limit is how many bytes are kept in memory; 0 means MemoryLimit.
	Limit int

	memory []byte
	file   *os.File
	size   int64 // of the file
}

// Blob is where a text lies.
type Blob struct {
	at   int64
	size int32
}

// MemoryLimit is how much is kept in memory if nothing else is said: the
// verdicts on some ten thousand sessions.
const MemoryLimit = 32 << 20

// maxBlob is what one text may have.
const maxBlob = 1<<31 - 1

var errBlobSize = errors.New("one session is larger than 2 GiB")

// Put adds a text.
func (s *Store) Put(text []byte) (Blob, error) {
	if len(text) > maxBlob {
		return Blob{}, errBlobSize
	}
	b := Blob{at: s.size + int64(len(s.memory)), size: int32(len(text))}
	s.memory = append(s.memory, text...)
	if len(s.memory) <= cmp.Or(s.Limit, MemoryLimit) {
		return b, nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "resultseal-*")
		if err != nil {
			return b, err
		}
		// Where a file can be removed while it is open, nothing is left behind
		// whatever happens.
		_ = os.Remove(f.Name())
		s.file = f
	}
	if _, err := s.file.WriteAt(s.memory, s.size); err != nil {
		return b, err
	}
	s.size += int64(len(s.memory))
	s.memory = s.memory[:0]
	return b, nil
}

// Get returns a text. It is shared: do not modify it, and put nothing while it
// is used.
func (s *Store) Get(b Blob) ([]byte, error) {
	if b.at >= s.size {
		from := b.at - s.size
		return s.memory[from : from+int64(b.size)], nil
	}
	text := make([]byte, b.size)
	_, err := s.file.ReadAt(text, b.at)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

// Close removes what was put aside.
func (s *Store) Close() error {
	s.memory = nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if remove := os.Remove(s.file.Name()); remove != nil && !errors.Is(remove, os.ErrNotExist) {
		err = errors.Join(err, remove)
	}
	s.file = nil
	return err
}
