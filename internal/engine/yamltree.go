// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "strings"

type yamlNodeKind uint8

const (
	yamlScalarNode yamlNodeKind = iota
	yamlSequenceNode
	yamlMappingNode
)

// yamlNode is a node of a document. A mapping's children are its keys and values
// in turn.
type yamlNode struct {
	kind     yamlNodeKind
	tag      string // without the prefix of YAML's own tags; "" if none was given
	text     string
	plain    bool
	depth    int
	children []*yamlNode
}

// yamlTagPrefix is what the tags of YAML's own types start with.
const yamlTagPrefix = "tag:yaml.org,2002:"

// yamlSafeTags are the tags that state what kind of plain data a node is.
var yamlSafeTags = map[string]bool{
	"str": true, "int": true, "float": true, "bool": true, "null": true,
	"seq": true, "map": true, "timestamp": true,
}

// yamlState is what a collection that is being read goes on with.
type yamlState uint8

const (
	inBlockSequence yamlState = iota
	inIndentlessSequence
	inBlockMappingKey
	inBlockMappingValue
	inFlowSequenceFirst
	inFlowSequence
	inFlowPairKey // a mapping of one pair within a flow sequence: [a: b]
	inFlowPairValue
	inFlowPairEnd
	inFlowMappingFirst
	inFlowMapping
	inFlowMappingValue
	inFlowMappingEmptyValue
)

// yamlParser makes trees of tokens. The collections that are open stand on a stack
// of its own, so that no text can exhaust the goroutine's.
type yamlParser struct {
	scanned *yamlScanner
	tokens  []yamlToken
	handles map[string]string
	open    []yamlFrame
	unsafe  bool // there was an anchor, an alias or a tag that is no plain data's
}

type yamlFrame struct {
	node  *yamlNode
	state yamlState
}

// parseYAMLTree returns the documents of a text. Errors have CodeParseFailed; what
// is unsafe is told apart, because an error anywhere comes before it.
func parseYAMLTree(text string) (docs []*yamlNode, unsafe, unpaired bool, err error) {
	s, err := scanYAML(text)
	if err != nil {
		return nil, false, false, err
	}
	p := &yamlParser{scanned: s, tokens: s.tokens}
	for first := true; ; first = false {
		explicit, end, err := p.documentStart(first)
		if err != nil {
			return nil, false, false, err
		}
		if end {
			return docs, p.unsafe, s.unpaired, nil
		}
		doc, err := p.document(explicit)
		if err != nil {
			return nil, false, false, err
		}
		docs = append(docs, doc)
	}
}

func (p *yamlParser) kind() yamlTokenKind { return p.tokens[0].kind }

func (p *yamlParser) is(kinds ...yamlTokenKind) bool {
	for _, k := range kinds {
		if p.tokens[0].kind == k {
			return true
		}
	}
	return false
}

func (p *yamlParser) next() yamlToken {
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *yamlParser) fail(what string) error {
	return parseErrorf(p.scanned.offset(p.tokens[0].at), "YAML: %s", what)
}

// documentStart reads what stands before a document. Only the first needs no mark.
func (p *yamlParser) documentStart(first bool) (explicit, end bool, err error) {
	p.handles = map[string]string{"!": "!", "!!": yamlTagPrefix}
	if first && !p.is(yamlDirective, yamlDocumentStart, yamlDocumentEnd, yamlStreamEnd) {
		return false, false, nil
	}
	if first && p.is(yamlDocumentEnd) {
		// An empty document stands before a mark that ends it.
		return false, false, nil
	}
	for p.is(yamlDocumentEnd) {
		p.next()
	}
	if p.is(yamlStreamEnd) {
		return false, true, nil
	}
	given := map[string]bool{}
	for p.is(yamlDirective) {
		t := p.next()
		switch {
		case given[t.handle] && (t.handle != "" || t.text != ""):
			return false, false, p.fail("directive given twice")
		case t.handle != "":
			p.handles[t.handle] = t.text
			given[t.handle] = true
		case t.text != "":
			if major, _, _ := strings.Cut(t.text, "."); strings.TrimLeft(major, "0") != "1" {
				return false, false, p.fail("document of another YAML version")
			}
			given[""] = true
		}
	}
	if !p.is(yamlDocumentStart) {
		return false, false, p.fail("expected a document")
	}
	p.next()
	return true, false, nil
}

// document reads a document.
func (p *yamlParser) document(explicit bool) (*yamlNode, error) {
	root := &yamlNode{kind: yamlSequenceNode}
	p.open = append(p.open[:0], yamlFrame{node: root})
	if explicit && p.is(yamlDirective, yamlDocumentStart, yamlDocumentEnd, yamlStreamEnd) {
		p.empty()
	} else if err := p.node(true, false); err != nil {
		return nil, err
	}
	for len(p.open) > 1 {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	if p.is(yamlDocumentEnd) {
		p.next()
	}
	return root.children[0], nil
}

// attach adds a node to the innermost collection.
func (p *yamlParser) attach(n *yamlNode) {
	parent := p.open[len(p.open)-1].node
	n.depth = len(p.open)
	parent.children = append(parent.children, n)
}

// empty adds a node that is not there: a plain scalar without text.
func (p *yamlParser) empty() { p.attach(&yamlNode{plain: true}) }

func (p *yamlParser) push(n *yamlNode, state yamlState) {
	p.open = append(p.open, yamlFrame{n, state})
}

func (p *yamlParser) pop() { p.open = p.open[:len(p.open)-1] }

// node reads a scalar or the start of a collection.
func (p *yamlParser) node(block, indentless bool) error {
	if p.is(yamlAlias) {
		p.unsafe = true
		p.next()
		p.empty()
		return nil
	}
	n := &yamlNode{}
	marked, err := p.properties(n)
	if err != nil {
		return err
	}
	p.attach(n)
	switch k := p.kind(); {
	case indentless && k == yamlBlockEntry:
		n.kind = yamlSequenceNode
		p.push(n, inIndentlessSequence)
	case k == yamlScalar:
		t := p.next()
		n.text, n.plain = t.text, t.plain
	case k == yamlFlowSequenceStart:
		p.next()
		n.kind = yamlSequenceNode
		p.push(n, inFlowSequenceFirst)
	case k == yamlFlowMappingStart:
		p.next()
		n.kind = yamlMappingNode
		p.push(n, inFlowMappingFirst)
	case block && k == yamlBlockSequenceStart:
		p.next()
		n.kind = yamlSequenceNode
		p.push(n, inBlockSequence)
	case block && k == yamlBlockMappingStart:
		p.next()
		n.kind = yamlMappingNode
		p.push(n, inBlockMappingKey)
	case marked:
		n.plain = true
	default:
		return p.fail("expected a value")
	}
	return nil
}

// properties reads a tag and an anchor, in either order.
func (p *yamlParser) properties(n *yamlNode) (marked bool, err error) {
	var anchor, tag bool
	for {
		switch {
		case p.is(yamlAnchor) && !anchor:
			anchor, p.unsafe = true, true
			p.next()
		case p.is(yamlTag) && !tag:
			tag = true
			t := p.next()
			full := t.text
			if t.handle != "" {
				prefix, ok := p.handles[t.handle]
				if !ok {
					return false, p.fail("tag handle that is not declared")
				}
				full = prefix + t.text
			}
			var own bool
			if n.tag, own = strings.CutPrefix(full, yamlTagPrefix); !own || !yamlSafeTags[n.tag] {
				p.unsafe = true
			}
		default:
			return anchor || tag, nil
		}
	}
}

// step goes on with the innermost collection: it reads one token or node.
func (p *yamlParser) step() error {
	f := &p.open[len(p.open)-1]
	switch f.state {
	case inBlockSequence:
		switch p.kind() {
		case yamlBlockEntry:
			p.next()
			return p.nodeUnless(true, false, yamlBlockEntry, yamlBlockEnd)
		case yamlBlockEnd:
			p.next()
			p.pop()
			return nil
		}
		return p.fail("expected '-'")

	case inIndentlessSequence:
		if p.is(yamlBlockEntry) {
			p.next()
			return p.nodeUnless(true, false, yamlBlockEntry, yamlKey, yamlValue, yamlBlockEnd)
		}
		p.pop()
		return nil

	case inBlockMappingKey:
		switch p.kind() {
		case yamlKey:
			p.next()
			f.state = inBlockMappingValue
			return p.nodeUnless(true, true, yamlKey, yamlValue, yamlBlockEnd)
		case yamlBlockEnd:
			p.next()
			p.pop()
			return nil
		}
		return p.fail("expected a key")

	case inBlockMappingValue:
		f.state = inBlockMappingKey
		if p.is(yamlValue) {
			p.next()
			return p.nodeUnless(true, true, yamlKey, yamlValue, yamlBlockEnd)
		}
		p.empty()
		return nil

	case inFlowSequenceFirst, inFlowSequence:
		if done, err := p.flowEntry(f.state == inFlowSequenceFirst, yamlFlowSequenceEnd); done || err != nil {
			return err
		}
		f.state = inFlowSequence
		if p.is(yamlKey) {
			pair := &yamlNode{kind: yamlMappingNode}
			p.attach(pair)
			p.push(pair, inFlowPairKey)
			return nil
		}
		return p.node(false, false)

	case inFlowPairKey:
		p.next()
		f.state = inFlowPairValue
		return p.nodeUnless(false, false, yamlValue, yamlFlowEntry, yamlFlowSequenceEnd)

	case inFlowPairValue:
		f.state = inFlowPairEnd
		if p.is(yamlValue) {
			p.next()
			return p.nodeUnless(false, false, yamlFlowEntry, yamlFlowSequenceEnd)
		}
		p.empty()
		return nil

	case inFlowPairEnd:
		p.pop()
		return nil

	case inFlowMappingFirst, inFlowMapping:
		if done, err := p.flowEntry(f.state == inFlowMappingFirst, yamlFlowMappingEnd); done || err != nil {
			return err
		}
		if p.is(yamlKey) {
			p.next()
			f.state = inFlowMappingValue
			return p.nodeUnless(false, false, yamlValue, yamlFlowEntry, yamlFlowMappingEnd)
		}
		f.state = inFlowMappingEmptyValue
		return p.node(false, false)

	case inFlowMappingValue:
		f.state = inFlowMapping
		if p.is(yamlValue) {
			p.next()
			return p.nodeUnless(false, false, yamlFlowEntry, yamlFlowMappingEnd)
		}
		p.empty()
		return nil
	}
	// inFlowMappingEmptyValue: a key alone.
	f.state = inFlowMapping
	p.empty()
	return nil
}

// nodeUnless reads a node, which is empty if one of the given tokens comes.
func (p *yamlParser) nodeUnless(block, indentless bool, ends ...yamlTokenKind) error {
	if p.is(ends...) {
		p.empty()
		return nil
	}
	return p.node(block, indentless)
}

// flowEntry reads the comma before an entry, or the end of a flow collection.
func (p *yamlParser) flowEntry(first bool, end yamlTokenKind) (done bool, err error) {
	if !p.is(end) {
		if first {
			return false, nil
		}
		if !p.is(yamlFlowEntry) {
			return false, p.fail("expected ','")
		}
		p.next()
		if !p.is(end) {
			return false, nil
		}
	}
	p.next()
	p.pop()
	return true, nil
}
