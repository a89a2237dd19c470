package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"cloud.google.com/go/storage"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

const (
	bucket   = "results"
	readOnly = "readers" // a bucket that the account may not write
	// pause is what the service wants between two writes of an object: one second there, shorter here as the waits of tests are.
	pause = 20 * time.Millisecond
)

type object struct {
	body []byte
	kind string
	at   time.Time
}

// store is a double of Cloud Storage's JSON API.
type store struct {
	authority *authority
	mu        sync.Mutex
	objects   map[string]object
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, reason := s.authority.allows(r, "devstorage.read_write", "devstorage.full_control", "cloud-platform"); status != http.StatusOK {
		fail(w, status, reason, "the double says so")
		return
	}
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), "/upload"), "/storage/v1/b/")
	name, rest, _ := strings.Cut(path, "/")
	if name != bucket && name != readOnly {
		fail(w, http.StatusNotFound, "notFound", "The specified bucket does not exist.")
		return
	}
	switch {
	case rest == "iam/testPermissions" && r.Method == http.MethodGet:
		may := r.URL.Query()["permissions"]
		if name == readOnly {
			may = nil
		}
		answer(w, map[string]any{"kind": "storage#testIamPermissionsResponse", "permissions": may})
	case name == readOnly:
		fail(w, http.StatusForbidden, "forbidden", email+" does not have storage.objects.create access.")
	case strings.HasPrefix(r.URL.Path, "/upload/") && r.Method == http.MethodPost && rest == "o":
		s.insert(w, r)
	case rest == "o" && r.Method == http.MethodGet:
		s.list(w)
	case strings.HasPrefix(rest, "o/") && r.Method == http.MethodGet:
		s.get(w, r, rest[2:])
	default:
		fail(w, http.StatusNotFound, "notFound", "Not Found")
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(v)
}

func resource(name string, o object) map[string]any {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(o.body, crc32.MakeTable(crc32.Castagnoli)))
	return map[string]any{"kind": "storage#object", "bucket": bucket, "name": name, "generation": "1", "metageneration": "1", "contentType": o.kind, "crc32c": base64.StdEncoding.EncodeToString(sum[:]), "size": fmt.Sprint(len(o.body))}
}

func (s *store) insert(w http.ResponseWriter, r *http.Request) {
	o := object{kind: r.Header.Get("Content-Type"), at: time.Now()}
	name := r.FormValue("name")
	var err error
	switch r.URL.Query().Get("uploadType") {
	case "media":
		o.body, err = io.ReadAll(r.Body)
	case "multipart":
		o, name, err = parts(r, o, name)
	default:
		err = errors.New("uploadType")
	}
	if err != nil || name == "" || len(name) > 1024 || !utf8.ValidString(name) || strings.ContainsAny(name, "\r\n") || strings.HasPrefix(name, ".well-known/acme-challenge/") {
		fail(w, http.StatusBadRequest, "invalid", fmt.Sprintf("name of %d bytes, %v", len(name), err))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if was, ok := s.objects[name]; ok && time.Since(was.at) < pause {
		fail(w, http.StatusTooManyRequests, "rateLimitExceeded", "The object exceeded the rate limit for object mutation operations.")
		return
	}
	s.objects[name] = o
	answer(w, resource(name, o))
}

// parts reads what the vendor's client sends: metadata, and then the object.
func parts(r *http.Request, o object, name string) (object, string, error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return o, "", err
	}
	in := multipart.NewReader(r.Body, params["boundary"])
	meta, err := in.NextPart()
	if err != nil {
		return o, "", err
	}
	var said struct{ Name string }
	if err := json.NewDecoder(meta).Decode(&said); err != nil {
		return o, "", err
	}
	media, err := in.NextPart()
	if err != nil {
		return o, "", err
	}
	o.kind = media.Header.Get("Content-Type")
	if said.Name != "" {
		name = said.Name
	}
	o.body, err = io.ReadAll(media)
	return o, name, err
}

func (s *store) list(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []map[string]any{}
	for name, o := range s.objects {
		items = append(items, resource(name, o))
	}
	answer(w, map[string]any{"kind": "storage#objects", "items": items})
}

func (s *store) get(w http.ResponseWriter, r *http.Request, escaped string) {
	name, err := url.PathUnescape(escaped)
	s.mu.Lock()
	o, ok := s.objects[name]
	s.mu.Unlock()
	switch {
	case err != nil || !ok:
		fail(w, http.StatusNotFound, "notFound", "No such object")
	case r.FormValue("alt") == "media":
		w.Header().Set("Content-Type", o.kind)
		w.Header().Set("X-Goog-Generation", "1")
		w.Header().Set("Content-Length", fmt.Sprint(len(o.body)))
		_, _ = w.Write(o.body)
	default:
		answer(w, resource(name, o))
	}
}

// client is the vendor's.
func (s *store) client(ctx context.Context, address string, scope string) (*storage.Client, error) {
	c, err := google.JWTConfigFromJSON(s.authority.account(), "https://www.googleapis.com/auth/"+scope)
	if err != nil {
		return nil, err
	}
	return storage.NewClient(ctx, option.WithEndpoint("http://"+address+"/storage/v1/"), option.WithTokenSource(c.TokenSource(ctx)), storage.WithJSONReads())
}

// judge lets the vendor's client pass.
func (s *store) judge(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := s.client(ctx, address, "devstorage.read_write")
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	const name = "a b/c+d=ü?.txt"
	to := c.Bucket(bucket).Object(name).NewWriter(ctx)
	to.ChunkSize = 0
	if _, err := to.Write([]byte("hello")); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return fmt.Errorf("the vendor's client writes: %w", err)
	}
	if b, err := read(ctx, c, name); err != nil || string(b) != "hello" {
		return fmt.Errorf("the vendor's client reads %q, %v", b, err)
	}
	may, err := c.Bucket(readOnly).IAM().TestPermissions(ctx, []string{"storage.objects.create"})
	if err != nil || len(may) != 0 {
		return fmt.Errorf("the vendor's client may %v, %v", may, err)
	}
	var said *googleapi.Error
	if wrong, err := s.client(ctx, address, "devstorage.read_only"); err != nil {
		return err
	} else if _, err := read(ctx, wrong, name); !errors.As(err, &said) || said.Code != http.StatusForbidden {
		return fmt.Errorf("the vendor's client with another scope: %v", err)
	}
	return nil
}

func read(ctx context.Context, c *storage.Client, name string) ([]byte, error) {
	from, err := c.Bucket(bucket).Object(name).NewReader(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	return io.ReadAll(from)
}

// all reads what is there with the vendor's client.
func (s *store) all(address string) (map[string][]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := s.client(ctx, address, "devstorage.read_write")
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	found := map[string][]byte{}
	for each := c.Bucket(bucket).Objects(ctx, nil); ; {
		o, err := each.Next()
		if errors.Is(err, iterator.Done) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		b, err := read(ctx, c, o.Name)
		if err != nil {
			return nil, err
		}
		found[o.Name] = bytes.Clone(b)
	}
}
