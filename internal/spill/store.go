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
	"slices"
)

// Store keeps texts. The zero Store keeps [MemoryLimit] bytes in memory. It is
// for one goroutine at a time.
type Store struct {
	// Limit is how many bytes are kept in memory; 0 means MemoryLimit.
	Limit int

	blocks []block // what is in memory, in order
	memory int     // how much that is
	file   *os.File
	size   int64 // of the file
}

// block holds texts one after the other. It has its room from the beginning, so
// that nothing is copied when more is put.
type block struct {
	at   int64 // where its first text lies
	text []byte
}

// blockSize is the room of a block; a text that is larger has its own.
const blockSize = 256 << 10

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
	b := Blob{at: s.size + int64(s.memory), size: int32(len(text))}
	last := len(s.blocks) - 1
	if last < 0 || len(text) > cap(s.blocks[last].text)-len(s.blocks[last].text) {
		s.blocks = append(s.blocks, block{at: b.at, text: make([]byte, 0, max(len(text), min(blockSize, s.limit())))})
		last++
	}
	s.blocks[last].text = append(s.blocks[last].text, text...)
	s.memory += len(text)
	if s.memory <= s.limit() {
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
	for _, full := range s.blocks {
		if _, err := s.file.WriteAt(full.text, full.at); err != nil {
			return b, err
		}
	}
	s.size += int64(s.memory)
	clear(s.blocks) // their memory is free
	s.blocks, s.memory = s.blocks[:0], 0
	return b, nil
}

func (s *Store) limit() int { return cmp.Or(s.Limit, MemoryLimit) }

// Get returns a text. It is shared: do not modify it, and put nothing while it
// is used.
func (s *Store) Get(b Blob) ([]byte, error) {
	if b.at >= s.size {
		after, _ := slices.BinarySearchFunc(s.blocks, b.at+1, func(o block, at int64) int { return cmp.Compare(o.at, at) })
		in := s.blocks[after-1]
		from := b.at - in.at
		return in.text[from : from+int64(b.size)], nil
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
	s.blocks, s.memory = nil, 0
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
