package sink

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"hostler/interpreter/block"
	"hostler/interpreter/host"
)

type webhook struct {
	door Door
	sink block.WebhookSink
}

func (w *webhook) tell(ctx context.Context, s Status) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, _, err = w.door.ask(ctx, w.sink.SinkAccess, ask{method: http.MethodPost, url: w.sink.URL, kind: "application/json", body: body})
	return err
}

// ask is a request.
type ask struct {
	method, url, kind string
	body              []byte
}

// answerError is an answer that is no success.
type answerError struct {
	Status int
	what   string
}

func (e *answerError) Error() string {
	return fmt.Sprintf("%s: the server answers %d %s", e.what, e.Status, http.StatusText(e.Status))
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 4 << 20

// ask asks a server. Errors name the server and never what was sent.
func (d Door) ask(ctx context.Context, access block.SinkAccess, a ask) (answer []byte, status int, err error) {
	ctx, err = d.trust(ctx, access)
	if err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, a.method, a.url, bytes.NewReader(a.body))
	if err != nil {
		return nil, 0, errors.New("its URL is none")
	}
	token, err := d.token(access)
	if err != nil {
		return nil, 0, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Content-Type", a.kind)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "hostler")
	what := a.method + " to " + req.URL.Host
	res, err := d.Network.Transport().RoundTrip(req)
	if err != nil {
		return nil, 0, passing{fmt.Errorf("%s: %w", what, err)}
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, 0, passing{fmt.Errorf("%s: %w", what, err)}
	case res.StatusCode < 200 || res.StatusCode > 299:
		failed := &answerError{res.StatusCode, what}
		if res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusConflict || res.StatusCode >= http.StatusInternalServerError {
			return nil, res.StatusCode, passing{failed}
		}
		return nil, res.StatusCode, failed
	}
	return answer, res.StatusCode, nil
}

// trust makes requests trust the sink's authorities.
func (d Door) trust(ctx context.Context, access block.SinkAccess) (context.Context, error) {
	pem := []byte(access.CA)
	if access.CAFile != "" {
		var err error
		if pem, err = d.wait(access.CAFile); err != nil {
			return ctx, err
		}
	}
	if len(pem) == 0 {
		return ctx, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return ctx, errors.New("its ca_certificate holds no certificate in PEM")
	}
	return host.WithRoots(ctx, pool), nil
}

func (d Door) token(access block.SinkAccess) (string, error) {
	token := access.Token
	if access.TokenFile != "" {
		data, err := d.wait(access.TokenFile)
		if err != nil {
			return "", err
		}
		token = string(data)
	}
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", errors.New("its token is no token: it holds blanks or other characters than letters, digits and signs")
	}
	if access.TokenFile != "" && token == "" {
		return "", waiting{fmt.Errorf("%s is empty", access.TokenFile)}
	}
	return token, nil
}

// maxCredential bounds what is read of a credential, in bytes.
const maxCredential = 1 << 20

// wait reads a file that an earlier step may not have written yet.
func (d Door) wait(name string) ([]byte, error) {
	data, err := d.read(name, maxCredential)
	if host.Absent(err) {
		return nil, waiting{fmt.Errorf("%s is not there yet", name)}
	}
	return data, err
}

func (d Door) read(name string, most int64) ([]byte, error) {
	f, err := d.Files.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	return data, errors.Join(err, f.Close())
}
