package nodetest

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
)

// Text formats messages and events as `Name Field=value Field.Sub=value`, and parses them. It
// omits zero fields and numbers the elements of lists: `Running.0.Slice=j1/0/0`. A job id with
// only its first byte set is j1 to j255. Any other is its first six letters, which can be
// parsed once formatted. A file is of:text, the digest of a text.
type Text struct {
	known map[string]message.JobID
	files map[string]message.FileDigest
}

// Message formats m.
func (t *Text) Message(m node.Message) string {
	return message.NameOf(m) + t.fields(m)
}

func (t *Text) fields(v any) string {
	var b strings.Builder
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	for i := range r.NumField() {
		t.write(&b, r.Type().Field(i).Name, r.Field(i))
	}
	return b.String()
}

func (t *Text) write(b *strings.Builder, path string, v reflect.Value) {
	if v.IsZero() {
		return
	}
	if s, ok := t.leaf(v); ok {
		fmt.Fprintf(b, " %s=%s", path, s)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			t.write(b, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			t.write(b, path+"."+strconv.Itoa(i), v.Index(i))
		}
	case reflect.Pointer, reflect.Interface:
		t.write(b, path, v.Elem())
	default:
		node.Bug("nodetest: field %s of type %v has no text", path, v.Type())
	}
}

// leaf formats a value of one word.
func (t *Text) leaf(v reflect.Value) (string, bool) {
	switch x := v.Interface().(type) {
	case message.JobID:
		return t.job(x), true
	case message.ShardID:
		return fmt.Sprintf("%s/%d/%d", t.job(x.Job), x.Workflow, x.Ordinal), true
	case message.Program:
		return x.Main, true
	case message.Plan:
		return fmt.Sprintf("%s(%d)", x.Source, len(x.Workflows)), true
	case []byte:
		return fmt.Sprintf("%dB", len(x)), true
	case []int:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(x), "[]"), " ", ","), true
	case fmt.Stringer:
		return strings.ReplaceAll(x.String(), " ", "-"), true
	}
	switch v.Kind() {
	case reflect.String:
		s := t.shorten(v.String())
		if strings.ContainsAny(s, " \"\n\t") {
			s = strconv.Quote(s)
		}
		return s, true
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), true
	}
	return "", false
}

func (t *Text) job(id message.JobID) string {
	if id == (message.JobID{id[0]}) {
		return "j" + strconv.Itoa(int(id[0]))
	}
	s := id.String()[:6]
	if t.known == nil {
		t.known = map[string]message.JobID{}
	}
	t.known[s] = id
	return s
}

// shorten shortens the job ids within a text.
func (t *Text) shorten(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		i := strings.IndexAny(s, " /:,")
		if i < 0 {
			i = len(s)
		}
		if id, err := message.ParseJobID(s[:i]); err == nil {
			b.WriteString(t.job(id))
		} else {
			b.WriteString(s[:i])
		}
		if i < len(s) {
			b.WriteByte(s[i])
			i++
		}
		s = s[i:]
	}
	return b.String()
}

// Parse parses a message: its name, then Field=value each.
func (t *Text) Parse(name string, fields []string) (node.Message, error) {
	m := empty(name)
	if m == nil {
		return nil, fmt.Errorf("no message of the catalogue is called %q", name)
	}
	for _, f := range fields {
		path, text, ok := strings.Cut(f, "=")
		if !ok {
			return nil, fmt.Errorf("%s: %q is not Field=value", name, f)
		}
		if err := t.set(reflect.ValueOf(m).Elem(), strings.Split(path, "."), text); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, path, err)
		}
	}
	return m, nil
}

// empty returns an empty message of the catalogue or a toy, nil if neither has the name.
func empty(name string) node.Message {
	for _, k := range message.Kinds() {
		if message.Name(k) == name {
			return message.New(k)
		}
	}
	return toy.New(name)
}

func (t *Text) set(v reflect.Value, path []string, text string) error {
	if len(path) == 0 {
		return t.setLeaf(v, text)
	}
	switch v.Kind() {
	case reflect.Struct:
		f := v.FieldByName(path[0])
		if !f.IsValid() {
			return fmt.Errorf("%v has no field %s", v.Type(), path[0])
		}
		return t.set(f, path[1:], text)
	case reflect.Slice:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i > 4096 {
			return fmt.Errorf("%q is no index", path[0])
		}
		for v.Len() <= i {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		}
		return t.set(v.Index(i), path[1:], text)
	}
	return fmt.Errorf("%v has nothing below it", v.Type())
}

func (t *Text) setLeaf(v reflect.Value, text string) (err error) {
	switch v.Interface().(type) {
	case message.JobID:
		id, err := t.ParseJob(text)
		v.Set(reflect.ValueOf(id))
		return err
	case message.ShardID:
		var s message.ShardID
		job, rest, _ := strings.Cut(text, "/")
		if s.Job, err = t.ParseJob(job); err == nil {
			_, err = fmt.Sscanf(rest, "%d/%d", &s.Workflow, &s.Ordinal)
		}
		v.Set(reflect.ValueOf(s))
		return err
	case message.FileDigest:
		d, err := t.parseFile(text)
		v.Set(reflect.ValueOf(d))
		return err
	case message.Fence:
		var f message.Fence
		_, err = fmt.Sscanf(text, "%d.%d.%d", &f.JobEpoch, &f.SubjobEpoch, &f.Attempt)
		v.Set(reflect.ValueOf(f))
		return err
	case message.Program:
		v.Set(reflect.ValueOf(message.Program{Main: text}))
		return nil
	case time.Duration:
		d, err := time.ParseDuration(text)
		v.SetInt(int64(d))
		return err
	}
	return setPlain(v, text)
}

func setPlain(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		if s, err := strconv.Unquote(text); err == nil {
			text = s
		}
		v.SetString(text)
		return nil
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		v.SetBool(b)
		return err
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		if err == nil {
			v.SetUint(n)
			return nil
		}
		return setNamed(v, text)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
		return err
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(text))
			return nil
		}
		for _, word := range strings.Split(text, ",") {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			if err := setPlain(v.Index(v.Len()-1), word); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%v cannot be read from text: set its fields", v.Type())
}

// setNamed finds the value of an enumeration whose String is text.
func setNamed(v reflect.Value, text string) error {
	for n := range uint64(64) {
		v.SetUint(n)
		if s, ok := v.Interface().(fmt.Stringer); ok && strings.ReplaceAll(s.String(), " ", "-") == text {
			return nil
		}
	}
	v.SetUint(0)
	return fmt.Errorf("%q is no %v", text, v.Type())
}

// parseFile parses of:text, the digest of a text, or the digits that were formatted for one.
func (t *Text) parseFile(s string) (message.FileDigest, error) {
	if text, ok := strings.CutPrefix(s, "of:"); ok {
		d := message.FileDigest(sha256.Sum256([]byte(text)))
		if t.files == nil {
			t.files = map[string]message.FileDigest{}
		}
		t.files[d.String()] = d
		return d, nil
	}
	if d, ok := t.files[s]; ok {
		return d, nil
	}
	return message.FileDigest{}, fmt.Errorf("file %q: want of:text", s)
}

// ParseJob parses j1 to j255, a whole job id, or one that was formatted before.
func (t *Text) ParseJob(s string) (message.JobID, error) {
	if id, ok := t.known[s]; ok {
		return id, nil
	}
	if n, ok := strings.CutPrefix(s, "j"); ok {
		if b, err := strconv.ParseUint(n, 10, 8); err == nil && b > 0 {
			return message.JobID{byte(b)}, nil
		}
	}
	return message.ParseJobID(s)
}
