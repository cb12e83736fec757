package scene

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// urlBlock is what can be fetched from an address.
type urlBlock struct {
	URL     string            `hcl:"url,label"`
	Content *string           `hcl:"content,optional"`
	Base64  *string           `hcl:"content_base64,optional"`
	Source  *string           `hcl:"source,optional"`
	Status  int               `hcl:"status,optional"`
	Headers map[string]string `hcl:"headers,optional"`
}

// site answers the requests to one host by path, with the query where there is
// one; it is not changed once it serves.
type site map[string]http.HandlerFunc

// ServeHTTP answers with what was described, else 404. A path that ends in a
// slash answers for all below it.
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s[r.URL.RequestURI()]; h != nil {
		h(w, r)
		return
	}
	best := ""
	for name := range s {
		if strings.HasSuffix(name, "/") && strings.HasPrefix(r.URL.Path, name) && len(name) > len(best) {
			best = name
		}
	}
	if best == "" {
		http.NotFound(w, r)
		return
	}
	s[best](w, r)
}

// site is that of a host, one of its own.
func (b *builder) site(name string) site {
	mine := site{}
	if had, ok := b.opts.Network.HTTP[name].(site); ok {
		for path, h := range had {
			mine[path] = h
		}
	}
	b.opts.Network.HTTP[name] = mine
	return mine
}

func (b *builder) serve(u urlBlock) error {
	at, err := url.Parse(u.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return fmt.Errorf("url %q is no http or https URL", u.URL)
	}
	text, err := b.bytes("url "+u.URL, contents{u.Content, u.Base64, u.Source})
	if err != nil {
		return err
	}
	b.site(at.Host)[at.RequestURI()] = func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range u.Headers {
			w.Header().Set(name, value)
		}
		if u.Status != 0 {
			w.WriteHeader(u.Status)
		}
		_, _ = w.Write([]byte(text)) // the host in memory takes everything
	}
	return nil
}
