// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// openStorage finds the storage extension and opens the processor's part of it.
func openStorage(ctx context.Context, host component.Host, id, of component.ID) (storage.Client, error) {
	extension, ok := host.GetExtensions()[id]
	if !ok {
		return nil, fmt.Errorf("resultseal: there is no storage extension %q", id)
	}
	extended, ok := extension.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("resultseal: the extension %q is no storage", id)
	}
	client, err := extended.GetClient(ctx, component.KindProcessor, of, "traces")
	if err != nil {
		return nil, fmt.Errorf("resultseal: the storage cannot be opened: %w", err)
	}
	return client, nil
}

// stored is what the log held when the processor started. It implements wal.Reader.
type stored struct {
	own           annotate.Namespace
	parts         []*assemble.Part
	decisions     []assemble.Decision
	conversations conversations.Stored
}

// ReadEntry reads spans. An earlier release may have written them, or a processor with
// another prefix, so they are cleaned like a batch that arrives.
func (s *stored) ReadEntry(ref wal.Ref, payload []byte) error {
	part, err := assemble.ReadPart(ref, payload, s.own.CleanResources)
	if err == nil {
		s.parts = append(s.parts, part)
	}
	return err
}

// ReadRecord reads a decision or a record of conversations.
func (s *stored) ReadRecord(r wal.Record) error {
	if r.Table != wal.Decisions {
		return s.conversations.Add(conversations.Record{
			Evicted: r.Table == wal.Evicted, Partition: r.Shard, Slot: r.Slot, Payload: r.Payload,
		})
	}
	d, err := assemble.ReadDecision(r)
	if err == nil {
		s.decisions = append(s.decisions, d)
	}
	return err
}

// restore opens the storage and restores what it holds: the decisions on completed
// traces, the states of conversations, and the spans of traces that had not left, which
// it returns.
func (p *tracesProcessor) restore(ctx context.Context, host component.Host) ([]*assemble.Part, error) {
	client, err := openStorage(ctx, host, *p.storage, p.id)
	if err != nil {
		return nil, err
	}
	s := &stored{own: p.own}
	log, err := wal.Open(ctx, client, wal.Settings{Shards: p.shards.Len(), Now: time.Now(), Logger: p.logger, Failed: p.recorder.StorageFailed}, s)
	if err == nil {
		err = p.reshard(ctx, log, s)
	}
	if err != nil {
		_ = client.Close(ctx) // the first error says more
		return nil, err
	}
	p.log = log
	p.shards.Restore(log, s.decisions)
	p.scoring.Restore(log, &s.conversations)
	if len(s.parts) > 0 {
		p.logger.Info("spans of traces that had not left before the restart are held again", zap.Int("parts", len(s.parts)))
	}
	return s.parts, nil
}

// reshard gives all records other slots if the number of shards or a limit has changed.
func (p *tracesProcessor) reshard(ctx context.Context, log *wal.Log, s *stored) error {
	if p.shards.Fits(log.Slots(wal.Decisions)) && p.scoring.Fits(log.Slots(wal.Conversations), &s.conversations) {
		return nil
	}
	var records []wal.Record
	s.decisions, records = p.shards.Reshard(s.decisions)
	return log.Reshard(ctx, p.shards.Len(), append(records, p.scoring.Reshard(&s.conversations)...))
}
