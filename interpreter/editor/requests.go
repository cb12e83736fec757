package editor

import (
	"context"
	"encoding/json"

	"hostler/interpreter/editor/rpc"
)

// Begin takes a request.
func (s *Service) Begin(method string, params json.RawMessage) rpc.Work {
	switch state := s.state.Load(); {
	case method == "initialize" && state == stateNew:
		return s.initialize(params)
	case state == stateNew:
		return failing(rpc.Errorf(rpc.NotInitialized, "%s before initialize", method))
	case state != stateRunning || method == "initialize":
		return failing(rpc.Errorf(rpc.InvalidRequest, "%s does not belong here", method))
	case method == "shutdown":
		s.state.Store(stateShutdown)
		return func(context.Context) (any, error) { return nil, nil }
	}
	answer := s.answers(method)
	if answer == nil {
		return failing(rpc.Errorf(rpc.MethodNotFound, "%s is not spoken here", method))
	}
	p, err := decode[placeParams](params)
	if err != nil {
		return failing(rpc.Errorf(rpc.InvalidParams, "%s: %v", method, err))
	}
	d := s.documents.get(p.TextDocument.URI)
	if d == nil {
		return failing(rpc.Errorf(rpc.InvalidParams, "%s is not open", p.TextDocument.URI))
	}
	return s.safely(method, func(ctx context.Context) (any, error) { return answer(ctx, d, p) })
}

func failing(err error) rpc.Work {
	return func(context.Context) (any, error) { return nil, err }
}

// safely turns a panic into an error of the request.
func (s *Service) safely(method string, work rpc.Work) rpc.Work {
	return func(ctx context.Context) (result any, err error) {
		err = rpc.Errorf(rpc.InternalError, "%s failed; the log has more", method)
		defer s.caught(method)
		return work(ctx)
	}
}

// answer works out the answer to a request about a document.
type answer func(context.Context, *document, placeParams) (any, error)

// answers is what answers a method, nil for one that is not known.
func (s *Service) answers(method string) answer {
	about := func(work func(d *document, at int) any) answer {
		return func(_ context.Context, d *document, p placeParams) (any, error) {
			return work(d, d.offset(p.Position)), nil
		}
	}
	switch method {
	case "textDocument/completion":
		return about(func(d *document, at int) any { return s.completion(d, at, s.snippets.Load()) })
	case "textDocument/hover":
		return about(func(d *document, at int) any { return s.hover(d, at) })
	case "textDocument/signatureHelp":
		return about(func(d *document, at int) any { return s.signature(d, at) })
	case "textDocument/definition":
		return about(func(d *document, at int) any { return s.definition(d, at) })
	case "textDocument/documentHighlight":
		return about(func(d *document, at int) any { return s.highlights(d, at) })
	case "textDocument/prepareRename":
		return about(func(d *document, at int) any { return s.prepareRename(d, at) })
	case "textDocument/documentSymbol":
		return about(func(d *document, _ int) any { return s.symbols(d) })
	case "textDocument/formatting":
		return about(func(d *document, _ int) any { return s.format(d) })
	case "textDocument/semanticTokens/full":
		return about(func(d *document, _ int) any { return s.colors(d) })
	case "textDocument/references":
		return func(_ context.Context, d *document, p placeParams) (any, error) {
			return s.references(d, d.offset(p.Position), p.Context.IncludeDeclaration), nil
		}
	case "textDocument/rename":
		return func(_ context.Context, d *document, p placeParams) (any, error) {
			return s.rename(d, d.offset(p.Position), p.NewName)
		}
	case "textDocument/codeAction":
		return func(ctx context.Context, d *document, p placeParams) (any, error) {
			return s.actions(ctx, d, span{d.offset(p.Range.Start), d.offset(p.Range.End)}, p.Context.Only), nil
		}
	}
	return nil
}

// initialize says what the service can do.
func (s *Service) initialize(params json.RawMessage) rpc.Work {
	p, err := decode[initializeParams](params)
	if err != nil {
		return failing(rpc.Errorf(rpc.InvalidParams, "initialize: %v", err))
	}
	s.snippets.Store(p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport)
	s.state.Store(stateRunning)
	return func(context.Context) (any, error) {
		return map[string]any{
			"serverInfo":   map[string]string{"name": "hostler", "version": s.Linter.Version},
			"capabilities": capabilities(),
		}, nil
	}
}

func capabilities() map[string]any {
	const incremental = 2
	return map[string]any{
		"positionEncoding":           "utf-16",
		"textDocumentSync":           map[string]any{"openClose": true, "change": incremental, "save": true},
		"completionProvider":         map[string]any{"triggerCharacters": []string{".", "\"", "[", "/"}},
		"hoverProvider":              true,
		"signatureHelpProvider":      map[string]any{"triggerCharacters": []string{"(", ","}},
		"definitionProvider":         true,
		"referencesProvider":         true,
		"documentHighlightProvider":  true,
		"documentSymbolProvider":     true,
		"documentFormattingProvider": true,
		"renameProvider":             map[string]any{"prepareProvider": true},
		"codeActionProvider":         map[string]any{"codeActionKinds": []string{actionFix, actionFixAll}},
		"semanticTokensProvider": map[string]any{
			"legend": map[string]any{"tokenTypes": legend(), "tokenModifiers": modifiers()}, "full": true,
		},
	}
}
