package reflection

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// inside puts bytes into a field.
func inside(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// file is a descriptor with comments.
func file(t testing.TB, name string, imports ...string) []byte {
	t.Helper()
	b, err := proto.Marshal(&descriptorpb.FileDescriptorProto{Name: proto.String(name), Dependency: imports, Syntax: proto.String("proto3"),
		SourceCodeInfo: &descriptorpb.SourceCodeInfo{Location: []*descriptorpb.SourceCodeInfo_Location{{LeadingComments: proto.String("a comment")}}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// server answers from files by their names; a symbol is the file's that has its name.
type server struct {
	services []string
	files    map[string][]byte
	refuses  map[string]bool // questions, and versions
	asked    []string
}

func (s *server) run(t *Talk) error {
	for range 10 * (ServicesMost + FilesMost) {
		method, question, more := t.Next()
		if !more {
			return nil
		}
		version := strings.Split(method, ".")[2]
		field, _, n := protowire.ConsumeTag(question)
		v, _ := protowire.ConsumeBytes(question[n:])
		s.asked = append(s.asked, fmt.Sprintf("%s %d %s", version, field, v))
		if s.refuses[version] {
			if err := t.Take(nil, true); err != nil {
				return err
			}
			continue
		}
		var answer []byte
		switch {
		case field == list:
			for _, name := range s.services {
				answer = inside(answer, 1, inside(nil, 1, []byte(name)))
			}
			answer = inside(nil, services, answer)
		case s.files[string(v)] != nil:
			answer = inside(nil, files, inside(nil, 1, s.files[string(v)]))
		case s.refuses[string(v)]:
			answer = inside(nil, refusal, inside(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 5), 2, []byte("no such thing")))
		}
		if err := t.Take(answer, false); err != nil {
			return err
		}
	}
	return errors.New("it asks for ever")
}

func TestTalks(t *testing.T) {
	files := map[string][]byte{
		"shop.Orders": file(t, "shop.proto", "b.proto", "google/protobuf/any.proto", "a.proto"),
		"shop.Items":  file(t, "shop.proto", "b.proto", "google/protobuf/any.proto", "a.proto"),
		"a.proto":     file(t, "a.proto", "b.proto", "shop.proto"), "b.proto": file(t, "b.proto", "a.proto"),
	}
	everything := Of{Files: true}
	for _, tt := range []struct {
		name   string
		of     Of
		server server
		want   string // of the questions, or of the error
		files  int
	}{
		{"all", everything, server{services: []string{"shop.Orders", "shop.Items"}}, "v1 7 , v1 4 shop.Items, v1 4 shop.Orders, v1 3 b.proto, v1 3 a.proto", 3},
		{"the older one", everything, server{services: []string{"shop.Items"}, refuses: map[string]bool{"v1": true}}, "v1 7 , v1alpha 7 , v1alpha 4 shop.Items, v1alpha 3 b.proto, v1alpha 3 a.proto", 3},
		{"named", Of{Files: true, Services: []string{"shop.Items", "shop.Items"}}, server{}, "v1 4 shop.Items, v1 3 b.proto, v1 3 a.proto", 3},
		{"names alone", Of{}, server{services: []string{"shop.Items"}}, "v1 7 ", 0},
		{"names alone of none", Of{}, server{refuses: map[string]bool{"v1": true, "v1alpha": true}}, "v1 7 , v1alpha 7 ", 0},
		{"none", everything, server{refuses: map[string]bool{"v1": true, "v1alpha": true}}, "error: the server has no reflection", 0},
		{"a service that it refuses", Of{Files: true, Services: []string{"shop.Gone"}}, server{refuses: map[string]bool{"shop.Gone": true}}, "error: reflection has no answer about shop.Gone: no such thing", 0},
		{"a service without a file", everything, server{services: []string{"shop.Gone"}}, "error: reflection answers with no file about shop.Gone", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			talk := New(tt.of)
			tt.server.files = files
			err := tt.server.run(talk)
			got := strings.Join(tt.server.asked, ", ")
			if err != nil {
				got = "error: " + err.Error()
			}
			set, n := talk.Set()
			if err != nil && strings.HasPrefix(got, tt.want) && tt.files == 0 {
				return
			}
			if got != tt.want || n != tt.files || bytes.Contains(set, []byte("a comment")) {
				t.Fatalf("%d files of %d bytes, want %d; it asks\n%s, want\n%s", n, len(set), tt.files, got, tt.want)
			}
			var read descriptorpb.FileDescriptorSet
			if err := proto.Unmarshal(set, &read); err != nil || len(read.File) != n || n > 0 && read.File[0].GetName() != "a.proto" {
				t.Errorf("got %v, %v", &read, err)
			}
		})
	}
}

// A server that tells of more and more is left.
func TestBounds(t *testing.T) {
	many := server{services: make([]string, ServicesMost+1)}
	for i := range many.services {
		many.services[i] = fmt.Sprint("s", i)
	}
	chain := server{services: []string{"s"}, files: map[string][]byte{"s": file(t, "0", "1")}}
	for i := range FilesMost + 10 {
		chain.files[fmt.Sprint(i)] = file(t, fmt.Sprint(i), fmt.Sprint(i+1))
	}
	wide := make([]string, FilesMost+1)
	for i := range wide {
		wide[i] = fmt.Sprint(i)
	}
	for name, s := range map[string]server{ //lint:orderfree each is a talk of its own
		"services": many, "files": chain, "imports": {services: []string{"s"}, files: map[string][]byte{"s": file(t, "s.proto", wide...)}},
		"name of a service": {services: []string{strings.Repeat("s", NameMost+1)}}, "name of a file": {services: []string{"s"}, files: map[string][]byte{"s": file(t, strings.Repeat("f", NameMost+1))}},
		"name of an import": {services: []string{"s"}, files: map[string][]byte{"s": file(t, "s", strings.Repeat("f", NameMost+1))}},
		"bytes":             {services: []string{"s"}, files: map[string][]byte{"s": append(inside(nil, fileName, []byte("s")), inside(nil, 2, make([]byte, BytesMost))...)}},
	} {
		if err := s.run(New(Of{Files: true})); !errors.Is(err, ErrLarge) {
			t.Errorf("%s: got %v after %d questions", name, err, len(s.asked))
		}
	}
}

// Answers of any kind end the talk within its bounds.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{services<<3 | 2, 4, 1<<3 | 2, 2, 1<<3 | 2, 0}, []byte{files<<3 | 2, 2, 1<<3 | 2, 0}, false)
	f.Add(inside(nil, services, inside(nil, 1, inside(nil, 1, []byte("s")))), inside(nil, files, inside(nil, 1, file(f, "f", "g"))), true)
	f.Add([]byte{}, inside(nil, refusal, []byte{1 << 3, 5}), false)
	f.Fuzz(func(t *testing.T, first, then []byte, older bool) {
		talk := New(Of{Files: true})
		for n := 0; ; n++ {
			_, _, more := talk.Next()
			if !more {
				break
			}
			if n > 2+ServicesMost+FilesMost {
				t.Fatal("it asks for ever")
			}
			answer := then
			if n == 0 {
				answer = first
			}
			if err := talk.Take(answer, older && n == 0); err != nil {
				if _, _, more := talk.Next(); more {
					t.Fatal("it goes on behind an error")
				}
				return
			}
		}
		set, n := talk.Set()
		var read descriptorpb.FileDescriptorSet
		if err := (proto.UnmarshalOptions{RecursionLimit: 200}).Unmarshal(set, &read); err == nil && len(read.File) != n {
			t.Errorf("%d files, read %d", n, len(read.File))
		}
	})
}
