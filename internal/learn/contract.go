// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// guess is a contract with the reasons for what is in it.
type guess struct {
	claim          engine.ClaimType
	claimWhy       string
	required       []string
	requiredWhy    string
	good           int    // results that the contract is made of
	payload        string // "" for the whole result
	payloadWhy     string
	ofList         bool // payload selects a list, in which nothing has a name
	emptyLists     int  // results in which that list was empty
	source         string
	observedSource string // "" if nothing in the result tells
	sourceWhy      string
	target         string
	observedTarget string // "" if nothing in the result tells
	targetWhy      string
	evidence       []string
	evidenceWhy    string
	sentinel       string // of a contract beside it, for "not found"; "" for none
	sentinelWhy    string
	notes          []string // what else was seen
}

// guess makes a contract of what is known of a tool; false if no result tells
// anything.
func (t *tool) guess() (*guess, bool) {
	if t.good == 0 && t.absent == 0 {
		return nil, false
	}
	g := &guess{}
	g.good = t.good
	g.guessClaim(t)
	if path, n, ok := t.list(g.claim); ok {
		g.payload, g.payloadWhy = path, "the only list of each result: an empty one proves nothing"
		g.ofList, g.emptyLists = true, n.empty
		g.good -= n.empty
	}
	g.guessFields(t)
	g.guessSource(t)
	g.guessTarget(t)
	g.guessEvidence(t)
	g.guessSentinel(t)
	g.note(t)
	return g, g.good > 0 || g.sentinel != ""
}

func (g *guess) guessClaim(t *tool) {
	claim, word := claimOf(t.name)
	if claim != "" {
		g.claim, g.claimWhy = claim, fmt.Sprintf("by its name: %q", word)
		return
	}
	if len(t.evidence()) > 0 && t.structured() {
		g.claim, g.claimWhy = engine.ClaimEffectObserved, "its results name something new: "+strings.Join(t.evidence(), ", ")
		return
	}
	g.claim, g.claimWhy = engine.ClaimFound, "nothing tells what it does"
}

func (g *guess) guessFields(t *tool) {
	if g.ofList {
		g.requiredWhy = "a list has no fields: any that is not empty seals"
		return
	}
	if key, ok := t.wrapper(); ok {
		g.payload = "$." + key
		if !plainName(key) {
			g.payload = "$[" + quoteStep(key) + "]"
		}
		g.payloadWhy = "each good result has nothing else"
	}
	body := t.body()
	switch {
	case t.good == 0:
		g.requiredWhy = "no result said anything"
	case t.objects < t.good && t.texts == t.good:
		g.requiredWhy = "results are texts, which have no fields: any that is not empty seals"
	case t.objects == 0:
		g.requiredWhy = "results are no objects, so they have no fields: any that is not empty seals"
	case !t.structured():
		g.requiredWhy = fmt.Sprintf("only %s of %d are objects: any that is not empty seals", number(t.objects, "result"), t.good)
	default:
		g.required = body.always()
		g.requiredWhy = fmt.Sprintf("in each of %s", number(body.objects, "good result"))
		if body.objects == 1 {
			g.requiredWhy = "in the only good result"
		}
		if t.objects < t.good {
			g.requiredWhy = fmt.Sprintf("in each of %s that are objects; %d are none, and blocked", number(t.objects, "result"), t.good-t.objects)
		}
		if len(g.required) == 0 {
			g.requiredWhy = "results have no field in common"
		}
	}
}

// sourceNames are fields in which results say where they come from.
var sourceNames = []string{"source", "origin", "system", "backend", "provider", "datasource", "data_source"}

func (g *guess) guessSource(t *tool) {
	g.source, g.sourceWhy = "tool:"+t.name, "nothing in the results tells where they come from, so it is not checked"
	if g.ofList {
		g.source = escape(g.source)
		return
	}
	for _, field := range t.body().references() {
		known := t.body().of[field]
		named := slices.ContainsFunc(sourceNames, func(name string) bool { return sameName(name, field) })
		if named && !known.varies && known.texts == t.body().objects {
			g.source, g.observedSource = "source:"+escape(known.constant), "source:{result"+step(field)+"}"
			g.sourceWhy = fmt.Sprintf("always %q in %s", known.constant, number(t.body().objects, "good result"))
			return
		}
	}
	g.source = escape(g.source)
}

func (g *guess) guessTarget(t *tool) {
	noun := escape(cmp.Or(nounOf(t.name), t.name))
	if b, ok := t.binding(); ok && !g.ofList {
		g.target, g.observedTarget = noun+":{arguments"+step(b.argument)+"}", noun+":{result"+step(b.field)+"}"
		g.targetWhy = fmt.Sprintf("the argument comes back in %d of %s", b.equal, number(b.both, "good result"))
		if b.equal < b.both {
			g.targetWhy += "; those in which it does not are about something else, and blocked"
		}
		return
	}
	if subject := t.subject(); subject != "" {
		g.target = noun + ":{arguments" + step(subject) + "}"
		g.targetWhy = "no argument comes back in the results, so it is not checked"
		return
	}
	g.target, g.targetWhy = noun, "no argument is there in every call, so it is not checked"
	if len(t.arguments.scalars()) > 0 {
		g.targetWhy = "the arguments of every call are free text, so it is not checked"
	}
}

func (g *guess) guessEvidence(t *tool) {
	if g.claim != engine.ClaimEffectObserved {
		return
	}
	if fields := t.evidence(); len(fields) > 0 && t.structured() {
		for _, field := range fields[:min(len(fields), 3)] {
			g.evidence = append(g.evidence, "{result"+step(field)+"}")
		}
		g.evidenceWhy = "results name something that was not asked for"
		return
	}
	g.evidenceWhy = "nothing in the results proves the effect, so the tool is taken at its word"
}

func (g *guess) guessSentinel(t *tool) {
	texts := slices.SortedFunc(maps.Keys(t.sentinels), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.sentinels[b], t.sentinels[a]), cmp.Compare(a, b))
	})
	if len(texts) == 0 || g.claim == engine.ClaimEffectObserved {
		return
	}
	if n := t.sentinels[texts[0]]; len(texts) == 1 || n > 1 {
		g.sentinel, g.sentinelWhy = texts[0], fmt.Sprintf("%s said so", number(n, "result"))
		if more := len(texts) - 1; more > 0 {
			g.sentinelWhy += fmt.Sprintf("; so did %s in other words", number(more, "other"))
		}
		return
	}
	g.notes = append(g.notes, fmt.Sprintf("%d results said in words that differ that there is nothing; a fixed text for that would make a not_found contract", t.absent))
}

// note says what else was seen.
func (g *guess) note(t *tool) {
	if t.empty > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s said nothing (null, \"\", {} or []), which proves nothing: blocked", number(t.empty, "result")))
	}
	if g.emptyLists > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s had an empty list, which proves nothing: blocked", number(g.emptyLists, "result")))
	}
	if t.failed > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s failed, or answered with a text about an error: look whether they are blocked", number(t.failed, "call")))
	}
	if nearly := t.body().nearly(); len(nearly) > 0 && t.structured() && !g.ofList {
		g.notes = append(g.notes, "not in every good result, but in most: "+strings.Join(nearly, ", "))
	}
	if missing := t.calls - t.recorded - t.failed; missing > 0 {
		g.notes = append(g.notes, fmt.Sprintf("no result was recorded of %s: blocked until the instrumentation records content", number(missing, "call")))
	}
	for _, field := range t.body().scalars() {
		list := words(field)
		if len(list) == 0 || g.ofList {
			continue
		}
		switch list[len(list)-1] {
		case "version", "revision", "etag":
			g.notes = append(g.notes, fmt.Sprintf("%s says how new a result is: freshness mode source_version with observation.source_version \"{result%s}\" would refuse old ones", field, step(field)))
		case "at", "timestamp", "updated", "time", "of":
			if len(list) > 1 || list[0] == "timestamp" {
				g.notes = append(g.notes, fmt.Sprintf("%s may say when a result was true: freshness mode max_age_seconds with observation.observed_at \"{result%s}\" would refuse old ones", field, step(field)))
			}
		}
	}
}

// step writes a field as a step of a template's path.
func step(field string) string {
	if plainName(field) {
		return "." + field
	}
	return "[" + quoteStep(field) + "]"
}

// plainName reports whether a path can spell a name without quotes.
func plainName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r == '-' || r >= '0' && r <= '9')) {
			return false
		}
	}
	return s != ""
}

// escape writes a text as a template that renders it.
func escape(text string) string { return strings.NewReplacer("{", "{{", "}", "}}").Replace(text) }

func number(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
