package rootfs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// resolveDocker makes an image of a docker archive, whose layers are known by
// the digests of their tars only.
func resolveDocker(ctx context.Context, files layoutFiles, want Platform) (Image, error) {
	r, err := files.open(ctx, "manifest.json")
	if err != nil {
		return Image{}, err
	}
	raw, err := readDocument(r)
	if err != nil {
		return Image{}, fmt.Errorf("manifest.json: %w", err)
	}
	var all []struct {
		Config string
		Layers []string
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return Image{}, fmt.Errorf("manifest.json: %w", err)
	}
	if len(all) != 1 {
		return Image{}, fmt.Errorf("the docker archive holds %d images; save one only", len(all))
	}
	if r, err = files.open(ctx, all[0].Config); err != nil {
		return Image{}, err
	}
	config, err := readDocument(r)
	if err != nil {
		return Image{}, fmt.Errorf("%s: %w", all[0].Config, err)
	}
	platform, ids, err := parseConfig(config, want)
	if err != nil {
		return Image{}, fmt.Errorf("%s: %w", all[0].Config, err)
	}
	if len(ids) != len(all[0].Layers) {
		return Image{}, fmt.Errorf("manifest.json has %d layers, but the configuration %d", len(all[0].Layers), len(ids))
	}
	image := Image{Digest: digestBytes(config), Platform: platform}
	for i, name := range all[0].Layers {
		image.Layers = append(image.Layers, Layer{
			DiffID: ids[i],
			open:   func(ctx context.Context) (io.ReadCloser, error) { return files.open(ctx, name) },
		})
	}
	return image, nil
}
