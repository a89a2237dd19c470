package convert

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf16"

	"github.com/goccy/go-yaml"
)

// PlainText decodes a file: it drops a byte-order mark and converts UTF-16, which Windows
// writes, to UTF-8. It refuses bytes that are no text.
func PlainText(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var order binary.ByteOrder
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("nothing is in it: save or export it again")
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return nil, errors.New("it is compressed: unpack it first (gunzip)")
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return nil, errors.New("it is a ZIP archive: unpack it, and give the file in it")
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")):
		return nil, errors.New("it is HTML or XML, perhaps the page that links to the file: save the file itself")
	default:
		return data, nil
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	return []byte(string(utf16.Decode(units))), nil
}

// Known names the kind of a document of the wrong kind; empty if it is unknown.
func Known(o *Object) string {
	switch {
	case o.Object("log") != nil && o.Object("log").Get("entries") != nil:
		return ": it is a HAR: use --from-har"
	case o.Text("openapi") != "" || o.Text("swagger") != "":
		return ": it is an OpenAPI description: use --from-openapi"
	case o.List("item") != nil:
		return ": it is a Postman collection: use --from-postman"
	case o.Get("_postman_variable_scope") != nil:
		return ": it is a Postman environment: export the collection, and give what the environment has with --set"
	case o.Text("asyncapi") != "":
		return ": it is an AsyncAPI description, which is not read"
	case o.Text("_type") == "export":
		return ": it is an export of Insomnia: export it as HAR, and use --from-har"
	}
	return ""
}

// Document reads JSON or YAML as an object.
func Document(data []byte) (*Object, error) {
	data, err := PlainText(data)
	if err != nil {
		return nil, err
	}
	var v any
	if t := bytes.TrimSpace(data); len(t) > 0 && t[0] == '{' {
		if v, err = ParseJSON(t, false); err != nil {
			return nil, fmt.Errorf("no JSON: %w", err)
		}
	} else if v, err = parseYAML(data); err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, errors.New("no description: it is no object of named members")
	}
	return o, nil
}

// parseYAML bounds what its reader would recurse into, or multiply.
func parseYAML(data []byte) (v any, err error) {
	if len(data) > yamlMax {
		return nil, fmt.Errorf("YAML of %d bytes, the limit is 8 MiB: convert it to JSON", len(data))
	}
	depth, anchors := 0, 0
	var level [1001]int // lines of a mapping, by their indent: the reader's time is quadratic in them
	deepest := 0
	for _, line := range bytes.Split(data, []byte("\n")) {
		if bytes.Count(line, []byte("- ")) > 2000 || bytes.Count(line, []byte("? ")) > 2000 {
			return nil, errors.New("no YAML description: a line has more than 2000 dashes")
		}
		trimmed := bytes.TrimLeft(line, " ")
		if len(line)-len(trimmed) > 1000 {
			return nil, errors.New("no YAML description: a line is indented by more than 1000 spaces")
		}
		if indent := len(line) - len(trimmed); len(trimmed) > 0 && trimmed[0] != '#' && trimmed[0] != '\r' {
			for ; deepest > indent; deepest-- {
				level[deepest] = 0
			}
			deepest = indent
			if level[indent]++; level[indent] > yamlMembers && bytes.Contains(trimmed, []byte(":")) {
				return nil, fmt.Errorf("YAML with more than %d members in one place: convert it to JSON", yamlMembers)
			}
		}
		depth += bytes.Count(line, []byte("[")) + bytes.Count(line, []byte("{")) - bytes.Count(line, []byte("]")) - bytes.Count(line, []byte("}"))
		if depth = max(depth, 0); depth > 1000 || bytes.Count(line, []byte("[")) > 2000 || bytes.Count(line, []byte("{")) > 2000 {
			return nil, errors.New("no YAML description: it is nested too deep")
		}
		if bytes.Contains(line, []byte(": *")) || bytes.Contains(line, []byte("- *")) || bytes.Contains(line, []byte("<<:")) {
			anchors++
		}
	}
	if anchors > 2000 {
		return nil, errors.New("no YAML description: it has more than 2000 references to anchors")
	}
	defer func() {
		if r := recover(); r != nil { // of the library, for invalid YAML
			v, err = nil, errors.New("no YAML: its reader gave up")
		}
	}()
	var raw any
	if err := yaml.UnmarshalWithOptions(data, &raw, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("no YAML: %s", OneLine(err.Error(), 200))
	}
	nodes := 1_000_000
	return fromYAML(raw, nestingMax, &nodes)
}

// fromYAML converts the YAML library's values to those that parseJSON makes.
func fromYAML(v any, depth int, nodes *int) (any, error) {
	if *nodes--; *nodes < 0 || depth == 0 {
		return nil, errDeep
	}
	switch v := v.(type) {
	case yaml.MapSlice:
		o := &Object{}
		for _, m := range v {
			value, err := fromYAML(m.Value, depth-1, nodes)
			if err != nil {
				return nil, err
			}
			o.Put(fmt.Sprint(m.Key), value)
		}
		return o, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			value, err := fromYAML(v[i], depth-1, nodes)
			if err != nil {
				return nil, err
			}
			out[i] = value
		}
		return out, nil
	case nil, bool, string:
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil
		}
		return json.Number(strconv.FormatFloat(v, 'f', -1, 64)), nil
	case int, int64, uint64:
		return json.Number(fmt.Sprint(v)), nil
	}
	return Clean(fmt.Sprint(v)), nil
}
