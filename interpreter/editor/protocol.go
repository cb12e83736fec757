package editor

import "encoding/json"

// The parts of the Language Server Protocol, version 3.17, that are spoken here.
// Names are the protocol's.

type (
	// TextEdit replaces a range of a document.
	TextEdit struct {
		Range   Range  `json:"range"`
		NewText string `json:"newText"`
	}

	// WorkspaceEdit changes documents.
	WorkspaceEdit struct {
		Changes map[string][]TextEdit `json:"changes"`
	}

	// Location is a place in a document.
	Location struct {
		URI   string `json:"uri"`
		Range Range  `json:"range"`
	}

	// Markup is a text to show.
	Markup struct {
		Kind  string `json:"kind"`
		Value string `json:"value"`
	}

	// Diagnostic is a finding of the linter.
	Diagnostic struct {
		Range    Range  `json:"range"`
		Severity int    `json:"severity"`
		Code     string `json:"code,omitempty"`
		Source   string `json:"source"`
		Message  string `json:"message"`
		Tags     []int  `json:"tags,omitempty"`
	}

	// PublishDiagnostics are all diagnostics of a document.
	PublishDiagnostics struct {
		URI         string       `json:"uri"`
		Version     *int         `json:"version,omitempty"`
		Diagnostics []Diagnostic `json:"diagnostics"`
	}

	// CompletionItem is one thing that may be written.
	CompletionItem struct {
		Label            string    `json:"label"`
		Kind             int       `json:"kind"`
		Detail           string    `json:"detail,omitempty"`
		Documentation    *Markup   `json:"documentation,omitempty"`
		SortText         string    `json:"sortText,omitempty"`
		FilterText       string    `json:"filterText,omitempty"`
		InsertTextFormat int       `json:"insertTextFormat,omitempty"`
		TextEdit         *TextEdit `json:"textEdit,omitempty"`
	}

	// CompletionList is what may be written at a place.
	CompletionList struct {
		IsIncomplete bool             `json:"isIncomplete"`
		Items        []CompletionItem `json:"items"`
	}

	// Hover is what is known about a place.
	Hover struct {
		Contents Markup `json:"contents"`
		Range    Range  `json:"range"`
	}

	// DocumentSymbol is a block or argument.
	DocumentSymbol struct {
		Name           string           `json:"name"`
		Detail         string           `json:"detail,omitempty"`
		Kind           int              `json:"kind"`
		Range          Range            `json:"range"`
		SelectionRange Range            `json:"selectionRange"`
		Children       []DocumentSymbol `json:"children,omitempty"`
	}

	// SignatureHelp says what a call takes.
	SignatureHelp struct {
		Signatures      []Signature `json:"signatures"`
		ActiveSignature int         `json:"activeSignature"`
		ActiveParameter int         `json:"activeParameter"`
	}

	// Signature is one form of a call.
	Signature struct {
		Label         string      `json:"label"`
		Documentation Markup      `json:"documentation"`
		Parameters    []Parameter `json:"parameters"`
	}

	// Parameter is one parameter; Label is its place in the signature's.
	Parameter struct {
		Label         [2]int `json:"label"`
		Documentation string `json:"documentation,omitempty"`
	}

	// CodeAction is a change that a user may choose.
	CodeAction struct {
		Title       string         `json:"title"`
		Kind        string         `json:"kind"`
		Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
		IsPreferred bool           `json:"isPreferred,omitempty"`
		Edit        *WorkspaceEdit `json:"edit"`
	}

	// SemanticTokens are the tokens of a document, five numbers each.
	SemanticTokens struct {
		Data []uint32 `json:"data"`
	}

	// Highlight is a place that names the same thing.
	Highlight struct {
		Range Range `json:"range"`
		Kind  int   `json:"kind"`
	}
)

// Severities of diagnostics, kinds of symbols and of completion items, and other
// numbers of the protocol.
const (
	severityError   = 1
	severityWarning = 2
	tagUnnecessary  = 1
	tagDeprecated   = 2

	symbolModule, symbolNamespace, symbolProperty, symbolVariable = 2, 3, 7, 13
	symbolConstant, symbolObject, symbolStruct, symbolEvent       = 14, 19, 23, 24

	itemFunction, itemField, itemVariable, itemClass, itemModule = 3, 5, 6, 7, 9
	itemProperty, itemValue, itemKeyword, itemFile               = 10, 12, 14, 17
	itemReference, itemConstant                                  = 18, 21

	insertSnippet = 2

	highlightRead, highlightWrite = 2, 3
)

type documentID struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type openParams struct {
	TextDocument struct {
		documentID
		Text string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument   documentID `json:"textDocument"`
	ContentChanges []Change   `json:"contentChanges"`
}

// placeParams are those of every request about a document or a place in it.
type placeParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     Position   `json:"position"`
	Range        Range      `json:"range"`
	NewName      string     `json:"newName"`
	Context      struct {
		IncludeDeclaration bool     `json:"includeDeclaration"`
		Only               []string `json:"only"`
	} `json:"context"`
}

type initializeParams struct {
	Capabilities struct {
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

func markdown(s string) Markup { return Markup{"markdown", s} }

// decode reads parameters; unknown ones are passed over.
func decode[T any](params json.RawMessage) (v T, err error) {
	if len(params) > 0 {
		err = json.Unmarshal(params, &v)
	}
	return v, err
}
