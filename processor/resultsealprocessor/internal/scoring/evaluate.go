// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
)

// scoreAndCount scores a trace that is not scored yet, and counts its verdict.
func (s *Scoring) scoreAndCount(t *trace) {
	s.scoreTrace(t)
	v := t.verdict
	if v == nil {
		return
	}
	s.count(v)
	s.warned.gaps(v, t.Late)
	if t.Late {
		return
	}
	s.Recorder.Session(v.Compliance.String(), t.Cause.String())
	s.Recorder.Gaps(v.Gaps)
	for i := range v.Protocols {
		s.Recorder.ProtocolVerdict(v.Protocols[i].Protocol, v.Protocols[i].Verdict.String())
	}
}

// scoreTrace scores a trace once.
func (s *Scoring) scoreTrace(t *trace) {
	if t.scored {
		return
	}
	t.scored = true
	s.evaluate(t)
}

// evaluateTrace finds the verdict on a trace by its own policy and writes it onto the
// spans in place. It appends attributes and span events, and neither adds, removes nor
// reorders spans.
func (s *Scoring) evaluateTrace(t *trace) {
	now := time.Now()
	turn := s.store.Take(t.conversations, &t.Revision.Revision, now)
	defer turn.Release() // without the states that are not kept below
	if t.Late {
		v, joined := t.Revision.Scorer.LateTurn(t.facts, turn, s.live(t, now))
		if v == nil {
			return
		}
		if joined {
			s.writer.Joined(t.sources, v)
		} else {
			s.writer.Late(t.sources, v)
		}
		t.verdict = v
	} else {
		v := t.Revision.Scorer.LiveTrace(t.facts, turn, s.live(t, now))
		if v == nil {
			return
		}
		s.writer.Session(t.sources, v, t.Cause.String())
		t.verdict = v
	}
	t.facts, t.sources = nil, nil
	t.records = walRecords(turn.Keep(now))
}

// live returns what is known of a trace besides its spans.
func (s *Scoring) live(t *trace, now time.Time) score.Live {
	l := score.Live{Gaps: gapsOf(t.Cause), Started: s.started, MaxAge: s.MaxAge, Latest: timestamp(now.Add(s.MaxClockSkew))}
	if t.Late && t.Cause == assemble.ByIdle {
		l.Gaps.Add(score.GapRootMissing) // the spans before may have named no conversation
	}
	return l
}

// gapsOf returns the gap of a trace that the processor completed early; none if it waited
// for everything that could be expected.
func gapsOf(c assemble.Cause) score.Gaps {
	switch c {
	case assemble.ByMaxAge:
		return score.GapSet(score.GapMaxAge)
	case assemble.ByOverflow:
		return score.GapSet(score.GapOverflow)
	case assemble.ByOversize:
		return score.GapSet(score.GapOversize)
	case assemble.ByShutdown:
		return score.GapSet(score.GapShutdown)
	case assemble.ByRoot, assemble.ByIdle:
	}
	return 0
}

// count counts the verdicts on single calls.
func (s *Scoring) count(v *score.Session) {
	for i := range v.Observations {
		o := &v.Observations[i]
		s.Recorder.Observation(o.Tool, o.Contract, string(o.Evaluation.Decision), string(o.Evaluation.TruthState), o.Evaluation.ReasonCodes)
		if o.Uncaptured {
			s.warned.warn(o)
		}
	}
	s.Recorder.Uncontracted(len(v.Uncontracted))
	s.Recorder.Unfollowed(v.Unfollowed)
}
