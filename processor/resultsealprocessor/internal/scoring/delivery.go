// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// delivery forwards spans to the next consumer, and retries while its error is not
// permanent, with growing pauses. It belongs to one emitter, which waits meanwhile: the
// next consumer would not accept another trace either, and so the order of a
// conversation's traces is kept.
type delivery struct {
	next    consumer.Traces
	retry   configretry.BackOffConfig
	retried func()

	// stopped is closed when the processor stops. From then on everything that is
	// left has max_elapsed_time together.
	stopped  <-chan struct{}
	stopping time.Time
	// durable is set if spans that are not accepted by then are there again after the
	// next start.
	durable bool
}

// errKept is the error of deliver for spans that stay in the storage.
var errKept = errors.New("the spans stay in the storage")

// errGaveUp is in the error of deliver if a further retry might have succeeded.
var errGaveUp = errors.New("retrying was given up")

// deliver returns nil when the next consumer has the spans. An error means that
// they, or some of them, are lost: it is permanent, or retrying was given up, or
// ctx is over. left is how many.
func (d *delivery) deliver(ctx context.Context, td ptrace.Traces) (left int, err error) {
	begin := time.Now()
	var pause *backoff.ExponentialBackOff
	for {
		left = td.SpanCount()
		err = d.next.ConsumeTraces(ctx, td)
		if err == nil {
			return 0, nil
		}
		// Some consumers return the spans that they rejected.
		var some consumererror.Traces
		if errors.As(err, &some) {
			td = some.Data()
			left = td.SpanCount()
		}
		if !consumererror.IsPermanent(err) && d.durable && d.ending(ctx) {
			return left, errKept
		}
		if consumererror.IsPermanent(err) || !d.retry.Enabled || ctx.Err() != nil {
			return left, err
		}
		if td.SpanCount() == 0 {
			return left, errors.Join(errors.New("the spans were taken apart by the consumer that refused them"), err)
		}
		if pause == nil {
			pause = &backoff.ExponentialBackOff{
				InitialInterval:     d.retry.InitialInterval,
				RandomizationFactor: d.retry.RandomizationFactor,
				Multiplier:          d.retry.Multiplier,
				MaxInterval:         d.retry.MaxInterval,
			}
			pause.Reset()
		}
		if !d.wait(ctx, pause.NextBackOff(), begin) {
			if d.durable && d.ending(ctx) {
				return left, errKept
			}
			return left, errors.Join(errGaveUp, err)
		}
		d.retried()
	}
}

// ending reports whether the processor stops.
func (d *delivery) ending(ctx context.Context) bool {
	select {
	case <-d.stopped:
		return true
	default:
		return ctx.Err() != nil
	}
}

// wait pauses and reports whether to go on.
func (d *delivery) wait(ctx context.Context, pause time.Duration, begin time.Time) bool {
	stopped := d.stopped
	if !d.stopping.IsZero() {
		stopped = nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	if d.over(time.Now().Add(pause), begin) {
		return false
	}
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-stopped:
		d.stopping = time.Now()
		return true // retried once more, at once
	}
}

// over reports whether the time for a trace, or for all at the end, has run out.
func (d *delivery) over(at, begin time.Time) bool {
	if !d.stopping.IsZero() {
		begin = d.stopping
	}
	return d.retry.MaxElapsedTime > 0 && at.Sub(begin) > d.retry.MaxElapsedTime
}
