// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// sealingNow is the clock that results are judged by.
var sealingNow = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)

// seal parses a result and seals it, as is done for every result that a span holds.
func seal(c *engine.Contract, in *engine.Input, text string) (engine.Record, error) {
	if in.Kind == engine.KindText {
		in.Body = jsonvalue.String(text)
	} else {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			return engine.Record{}, err
		}
		in.Body = v
	}
	r, err := in.Read()
	if err != nil {
		return engine.Record{}, err
	}
	env, err := in.Envelope(r, sealingNow)
	if err != nil {
		return engine.Record{}, err
	}
	return engine.NewRecord(c, &env, c.Evaluate(&env, r.Payload, sealingNow), nil)
}

// result is what is sealed.
type result struct {
	shape string
	kind  engine.InputKind
	text  string
}

func resultsOf(size int) ([]result, error) {
	canonical, err := canonicalResult(size, 42)
	if err != nil {
		return nil, err
	}
	mcp, err := mcpResult(size, 42)
	return []result{
		{"JSON", engine.KindJSON, jsonResult(size, 42)},
		{"canonical JSON", engine.KindJSON, canonical},
		{"untidy JSON", engine.KindJSON, untidyResult(size, 42)},
		{"MCP", engine.KindMCP, mcp},
		{"text", engine.KindText, textResult(size)},
	}, err
}

// sealer seals one result again and again. It fails if the result is not sealed, so that
// no short way out is measured.
func sealer(r result) contestant {
	c := &engine.Contract{
		SchemaVersion: "1", ClaimType: engine.ClaimFound, Freshness: engine.Freshness{Mode: engine.FreshnessNotRequired},
		SourceRef: "crm://customers", TargetRef: "customer:42",
	}
	if r.kind != engine.KindText {
		c.RequiredFields = []string{"customer_id", "name", "items"}
	}
	in := &engine.Input{
		Kind: r.kind, ToolName: "get_customer", ToolCallID: "call_1", ObservationID: "obs_1",
		SourceRef: c.SourceRef, TargetRef: c.TargetRef, ObservedAt: "2026-08-21T12:00:00Z",
	}
	return repeated(r.shape, func() error {
		record, err := seal(c, in, r.text)
		if err == nil && record.Decision != engine.Sealed {
			err = fmt.Errorf("the result is %v, not sealed: %v", record.Decision, record.ReasonCodes)
		}
		return err
	})
}

func hasher(text string) contestant {
	data := []byte(text)
	return repeated("SHA-256", func() error {
		sha256.Sum256(data)
		return nil
	})
}

// tokenizer reads every token of a JSON text and does nothing with them.
func tokenizer(text string) contestant {
	data := []byte(text)
	reader := bytes.NewReader(data)
	d := jsontext.NewDecoder(reader)
	return repeated("jsontext tokens", func() error {
		reader.Reset(data)
		d.Reset(reader)
		for {
			if _, err := d.ReadToken(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
}

// sealing compares what it takes to seal a result with the hash of the same bytes,
// without which nothing can be sealed, and with reading its tokens.
func sealing(budget) ([]*contest, error) {
	var out []*contest
	for _, size := range []struct {
		bytes  int
		name   string
		target target
	}{
		{512, "512 B", target{ratioAtMost: 6, allocs: 4, hasAllocs: true}},
		{4 << 10, "4 KiB", target{}},
		{64 << 10, "64 KiB", target{ratioAtMost: 3}},
	} {
		rs, err := resultsOf(size.bytes)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			c := &contest{name: "seal/" + size.name + "/" + r.shape, contestants: []contestant{sealer(r), hasher(r.text)}}
			l := line{what: fmt.Sprintf("seal a result of %s, %s", size.name, r.shape), of: 0, against: 1}
			if r.kind == engine.KindJSON {
				l.target = size.target
			}
			if r.shape == "JSON" && size.bytes == toolBytes {
				l.headline = "sealing a result of 512 B"
			}
			c.lines = []line{l}
			if r.kind != engine.KindText {
				c.contestants = append(c.contestants, tokenizer(r.text))
				c.lines = append(c.lines, line{what: "… beside reading its tokens", of: 0, against: 2})
			}
			out = append(out, c)
		}
	}
	return out, nil
}
