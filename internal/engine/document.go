// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/yaml11"
)

// Format is how a document is written.
type Format uint8

const (
	FormatJSON Format = iota
	FormatYAML
)

// ParseDocument reads an adapter document, a contract or a fixture, and holds it to
// the published limits: the size before anything is read, the depth, the number of
// values and the length of texts after that.
//
// JSON may be UTF-8, UTF-16 or UTF-32; YAML is UTF-8. Errors are those of
// JSON text, or of YAML: CodeUnsafeInput for anchors, aliases and tags that could do more
// than state a value.
func ParseDocument(data []byte, format Format) (jsonvalue.Value, error) {
	if len(data) > maxDocumentBytes {
		return jsonvalue.Value{}, errorf(CodeLimitExceeded, "document of more than %d bytes", maxDocumentBytes)
	}
	if format == FormatYAML {
		v, err := parseYAML(string(data))
		if err != nil {
			return jsonvalue.Value{}, err
		}
		return v, checkLimits(v)
	}
	text, lone, err := decodeText(data)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	v, err := jsonvalue.Parse(text)
	if err != nil {
		return jsonvalue.Value{}, refusal(err)
	}
	if err := checkLimits(v); err != nil {
		return jsonvalue.Value{}, err
	}
	if lone {
		return jsonvalue.Value{}, errLoneSurrogate
	}
	return v, nil
}

// parseYAML reads a YAML document.
func parseYAML(text string) (jsonvalue.Value, error) {
	v, err := yaml11.Parse(text)
	switch {
	case err != nil:
		return jsonvalue.Value{}, yamlRefusal(err)
	case v.Kind() == jsonvalue.TimestampKind:
		return jsonvalue.Value{}, errorf(CodeLimitExceeded, "YAML: the document must be a mapping, a sequence or a scalar, not a time")
	}
	return v, nil
}

// parseYAMLPayload reads a YAML text that is a result, and holds it to the limits
// of a document.
func parseYAMLPayload(text string) (jsonvalue.Value, error) {
	v, err := parseYAML(text)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return v, checkLimits(v)
}

// decodeText makes UTF-8 of a JSON text, whose encoding shows in its first bytes.
// Halves of surrogate pairs that are encoded on their own are replaced and reported.
func decodeText(data []byte) (text string, lone bool, err error) {
	var units []rune
	switch enc := detectEncoding(data); {
	case enc.width == 1:
		data = data[enc.skip:]
		if !utf8.Valid(data) {
			if err := refusal(jsonvalue.CheckUTF8(string(data))); err.Code != CodeSchemaInvalid {
				return "", false, err
			}
			return string(bytes.ToValidUTF8(data, []byte("\uFFFD"))), true, nil
		}
		return string(data), false, nil
	case len(data)%enc.width != 0:
		return "", false, errorf(CodeParseFailed, "JSON: text that breaks off within a character")
	default:
		for b := data[enc.skip:]; len(b) > 0; b = b[enc.width:] {
			if enc.width == 2 {
				units = append(units, rune(enc.order.Uint16(b)))
				continue
			}
			r := enc.order.Uint32(b)
			if r > utf8.MaxRune {
				return "", false, errorf(CodeParseFailed, "JSON: character beyond the last one")
			}
			units = append(units, rune(r))
		}
		runes := units[:0]
		for i := 0; i < len(units); i++ {
			r := units[i]
			if utf16.IsSurrogate(r) {
				pair := utf8.RuneError
				if enc.width == 2 && i+1 < len(units) {
					pair = utf16.DecodeRune(r, units[i+1])
				}
				if pair == utf8.RuneError {
					lone = true
				} else {
					i++
				}
				r = pair
			}
			runes = append(runes, r)
		}
		return string(runes), lone, nil
	}
}

type encoding struct {
	width int // bytes of a code unit
	skip  int // bytes of the byte order mark
	order binary.ByteOrder
}

// detectEncoding tells an encoding by its byte order mark, or by where the zero
// bytes are in the first two characters, which are ASCII in every JSON text.
func detectEncoding(b []byte) encoding {
	at := func(i int) bool { return i < len(b) && b[i] != 0 }
	switch {
	case bytes.HasPrefix(b, []byte{0, 0, 0xFE, 0xFF}):
		return encoding{4, 4, binary.BigEndian}
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE, 0, 0}):
		return encoding{4, 4, binary.LittleEndian}
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return encoding{2, 2, binary.BigEndian}
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return encoding{2, 2, binary.LittleEndian}
	case bytes.HasPrefix(b, []byte{0xEF, 0xBB, 0xBF}):
		return encoding{width: 1, skip: 3}
	case len(b) >= 4 && !at(0) && at(1), len(b) == 2 && !at(0):
		return encoding{2, 0, binary.BigEndian}
	case len(b) >= 4 && !at(0):
		return encoding{4, 0, binary.BigEndian}
	case len(b) >= 4 && !at(1) && (at(2) || at(3)), len(b) == 2 && !at(1):
		return encoding{2, 0, binary.LittleEndian}
	case len(b) >= 4 && !at(1):
		return encoding{4, 0, binary.LittleEndian}
	}
	return encoding{width: 1}
}
