// Command generate writes the variables of the shared Kubernetes worker, and
// their way to it, into the recipes per image: what can be given is declared
// and checked in one place, and shown by each of them.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// shared is the recipe that the others use.
const shared = "shared/kubernetes-worker/recipe.hcl"

// from is the line below which everything in a recipe of an image is made.
const from = "# From here on all images are the same: the variables of recipe:shared/kubernetes-worker, handed on to it.\n"

// defaults are those of an image, where they are other than the shared ones.
func defaults(image string) map[string]string {
	switch image {
	case "debian", "ubuntu":
		return map[string]string{"apt_hardening": "true"}
	}
	return nil
}

func main() {
	text, err := os.ReadFile(shared)
	if err != nil {
		log.Fatal(err)
	}
	names, err := filepath.Glob("*/*/kubernetes-worker/recipe.hcl")
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		image, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		old, err := os.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		made, err := worker(old, text, defaults(image))
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(name, made, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// worker is the recipe of an image, its head kept.
func worker(recipe, shared []byte, defaults map[string]string) ([]byte, error) {
	head, _, ok := bytes.Cut(recipe, []byte(from))
	if !ok {
		return nil, fmt.Errorf("it has no line %q", strings.TrimSpace(from))
	}
	variables, err := declared(string(shared))
	if err != nil {
		return nil, err
	}
	for name, value := range defaults {
		old := variables
		variables = regexp.MustCompile(`(?m)(variable "`+name+`" \{\n(?:  .*\n)*?  default +=).*`).ReplaceAllString(old, "${1} "+value)
		if variables == old {
			return nil, fmt.Errorf("the variable %s has no other default", name)
		}
	}
	return fmt.Appendf(nil, "%s%s\n%s%s", head, from, variables, use(variables)), nil
}

// declared is the text of the variables with the comments between them.
func declared(text string) (string, error) {
	start := strings.Index(text, "# --- ")
	end := strings.Index(text, "\nlocals {")
	if start < 0 || end < start {
		return "", fmt.Errorf("%s: the variables do not stand between the first \"# ---\" and locals", shared)
	}
	return text[start:end], nil
}

// use hands all variables on, as fmt writes it.
func use(variables string) string {
	names := regexp.MustCompile(`(?m)^variable "([a-z0-9_]+)"`).FindAllStringSubmatch(variables, -1)
	width := 0
	for _, name := range names {
		width = max(width, len(name[1]))
	}
	var b strings.Builder
	b.WriteString("\nuse \"worker\" {\n  source  = \"recipe:shared/kubernetes-worker\"\n  version = \"~> 1.0\"\n  inputs = {\n")
	for _, name := range names {
		fmt.Fprintf(&b, "    %-*s = var.%s\n", width, name[1], name[1])
	}
	b.WriteString("  }\n}\n\noutput \"root\" {\n  value       = use.worker.root\n  description = \"Where the machine's root is on the host\"\n}\n\n" +
		"output \"machine\" {\n  value       = use.worker.machine\n  description = \"Name of the machine that runs or is being built\"\n}\n")
	return b.String()
}
