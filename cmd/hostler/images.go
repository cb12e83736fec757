package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hostler/interpreter/eval"
	"hostler/interpreter/rehearse"
	"hostler/interpreter/rehearse/scene"
	"hostler/recipes"
)

// subjects are the recipes of those names, with the inputs given.
func (a *app) subjects(names []string) (list []rehearse.Subject, err error) {
	given, err := a.given()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r, bundle, diags := a.load(name)
		if diags.HasErrors() {
			return nil, diags
		}
		list = append(list, rehearse.Subject{Name: strings.TrimPrefix(name, "recipe:"), Recipe: r, Bundle: bundle, Given: given})
	}
	return list, nil
}

// findImages reads the facts at paths; without any, those in the tests of the
// recipes.
func findImages(paths, recipeNames []string) (images []rehearse.Image, err error) {
	if len(paths) == 0 {
		for _, name := range recipeNames {
			if shipped, ok := strings.CutPrefix(name, "recipe:"); ok {
				images, err = imagesBelow(recipes.FS(), shipped, images)
			} else if info, bad := os.Stat(name); bad == nil && info.IsDir() {
				images, err = imagesBelow(eval.Plain(os.DirFS(name)), ".", images)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	for _, name := range paths {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() && !scene.FactsFile(filepath.ToSlash(name)) {
			return nil, fmt.Errorf("%s is not named as facts of an image are: NAME.facts.json, os-release or NAME.os-release", name)
		}
		dir, file := filepath.Split(filepath.Clean(name))
		if info.IsDir() {
			dir, file = name, "."
		}
		if dir == "" {
			dir = "."
		}
		if images, err = imagesBelow(eval.Plain(os.DirFS(dir)), filepath.ToSlash(file), images); err != nil {
			return nil, err
		}
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("there are no facts of images; name a file or a directory: --facts images")
	}
	return images, nil
}

func imagesBelow(fsys fs.FS, dir string, images []rehearse.Image) ([]rehearse.Image, error) {
	names, err := scene.Find(fsys, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		o, whole, err := scene.ParseHost(name, data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		img := rehearse.Image{Name: imageName(name), Options: o, Whole: whole}
		if !known(images, img) {
			images = append(images, img)
		}
	}
	return images, nil
}

// known says whether an image is there already, by what is known of it.
func known(images []rehearse.Image, img rehearse.Image) bool {
	for _, had := range images {
		if had.Whole == img.Whole && !img.Whole && had.Options.OSRelease == img.Options.OSRelease {
			return true
		}
	}
	return false
}

// imageName is how an image is called: its file, or the directory of the
// recipe for a file that is called os-release.
func imageName(name string) string {
	base := path.Base(name)
	for _, suffix := range []string{".facts.json", ".os-release"} {
		if short, ok := strings.CutSuffix(base, suffix); ok {
			return short
		}
	}
	top, _, _ := strings.Cut(name, "/tests/")
	if top == name {
		return base
	}
	return path.Join(path.Base(path.Dir(path.Dir(top))), path.Base(path.Dir(top)))
}
