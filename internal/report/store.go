// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"io"
	"os"
)

// store puts texts aside: in memory as long as they are few, then in a
// temporary file. It is for one goroutine at a time.
type store struct {
	limit  int // bytes in memory
	memory []byte
	file   *os.File
	size   int64 // of the file
}

// blob is where a text lies.
type blob struct {
	at   int64
	size int32
}

// memoryLimit is how much is kept in memory: some ten thousand sessions.
const memoryLimit = 32 << 20

// maxBlob is what one text may have.
const maxBlob = 1<<31 - 1

var errBlobSize = errors.New("a session's verdict is larger than 2 GiB")

// put adds a text.
func (s *store) put(text []byte) (blob, error) {
	if len(text) > maxBlob {
		return blob{}, errBlobSize
	}
	b := blob{at: s.size + int64(len(s.memory)), size: int32(len(text))}
	s.memory = append(s.memory, text...)
	if len(s.memory) <= s.limit {
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

// get returns a text. It is shared: do not modify it, and put nothing while it
// is used.
func (s *store) get(b blob) ([]byte, error) {
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

// close removes what was put aside.
func (s *store) close() error {
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
