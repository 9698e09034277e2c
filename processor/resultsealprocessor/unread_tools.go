// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// What is looked at for tool calls that no dialect reads. Both bounds keep it from
// costing anything after a while.
const (
	maxLookedAt     = 1000 // spans of a scope
	maxLookedScopes = 1000
)

// maxScopeKey is how many bytes of a scope's name tell it apart: the names are
// kept, and come from outside.
const maxScopeKey = 256

// lookout finds spans that look like tool calls and that no dialect reads, in what
// comes, and logs them once for each scope. Any number of senders use it at the
// same time.
type lookout struct {
	logger   *zap.Logger
	decoders sync.Pool
	scopes   grown[string, *lookedScope]
}

// lookedScope is a scope that was met.
type lookedScope struct {
	done   atomic.Bool // nothing of it is looked at any more
	mu     sync.Mutex
	looked int // spans
}

func newLookout(logger *zap.Logger, o genai.Options) *lookout {
	return &lookout{logger: logger, decoders: sync.Pool{New: func() any { return genai.NewDecoder(o) }}}
}

// look looks at the first spans of each scope.
func (l *lookout) look(td ptrace.Traces) {
	if l == nil {
		return
	}
	name := ""
	var scope *lookedScope
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			if n := ss.Scope().Name(); scope == nil || n != name {
				name, scope = n, l.scope(n)
			}
			if scope != nil && !scope.done.Load() {
				l.inspect(scope, name, ss.Spans())
			}
		}
	}
}

// scope finds a scope by its name; nil if there are too many.
func (l *lookout) scope(name string) *lookedScope {
	name = name[:min(len(name), maxScopeKey)]
	scope, ok := l.scopes.get(name)
	if !ok && l.scopes.len() < maxLookedScopes {
		l.scopes.add(strings.Clone(name), maxLookedScopes, &lookedScope{})
		scope, _ = l.scopes.get(name)
	}
	return scope
}

// inspect looks at spans of a scope. A scope whose tool calls a dialect reads may
// have other spans that look like some.
func (l *lookout) inspect(scope *lookedScope, name string, spans ptrace.SpanSlice) {
	scope.mu.Lock()
	defer scope.mu.Unlock()
	if scope.done.Load() {
		return
	}
	decoder := l.decoders.Get().(*genai.Decoder)
	defer l.decoders.Put(decoder)
	unread := -1
	n := min(spans.Len(), maxLookedAt-scope.looked)
	for i := range n {
		switch decoder.Reading(name, spans.At(i)) {
		case genai.ReadTool:
			scope.done.Store(true)
			return
		case genai.UnreadTool:
			if unread < 0 {
				unread = i
			}
		}
	}
	scope.looked += n
	if unread >= 0 {
		l.logger.Warn("spans look like tool calls, and no dialect reads them, so no verdict is about them; describe their attributes under dialects",
			zap.String("scope", display.Field(name)),
			zap.Strings("attributes", genai.UnreadNames(spans.At(unread))),
			zap.String("documentation", "docs/instrumentations.md#a-dialect-of-your-own"))
	}
	if unread >= 0 || scope.looked >= maxLookedAt {
		scope.done.Store(true)
	}
}
