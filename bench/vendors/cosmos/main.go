// Command cosmos is a double of Azure Cosmos DB's REST API for documents, for tests. It has one container, load/rows, with the
// partition key /job, and a second one, load/other, with another key. Before it prints its addresses, Microsoft's client
// azcosmos must have written, read and replaced through it, and have failed with a wrong key. Its second address is a
// page: /key is the account's key, /documents what the vendor's client reads, /throttle?n=N rejects the next N writes.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

const (
	key         = "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw=="
	wrong       = "AAAAi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw=="
	skew        = 15 * time.Minute
	documentMax = 2 << 20
	charge      = 6.29 // request units of a write
)

type document struct {
	partition string
	etag      string
	body      map[string]any
}

type double struct {
	address  string
	mu       sync.Mutex
	docs     map[string]document // by partition and id
	count    int
	throttle int
}

// verify computes the signature of Microsoft's page by itself.
func verify(r *http.Request) string {
	path := strings.Trim(r.URL.Path, "/")
	parts := strings.Split(path, "/")
	kind, link := "", path
	if len(parts)%2 == 0 {
		kind = parts[len(parts)-2]
	} else {
		kind, link = parts[len(parts)-1], strings.Join(parts[:len(parts)-1], "/")
	}
	date := r.Header.Get("x-ms-date")
	at, err := http.ParseTime(date)
	if err != nil || time.Since(at).Abs() > skew {
		return "the date is no RFC 1123 date of now"
	}
	if r.Header.Get("x-ms-version") == "" {
		return "no x-ms-version"
	}
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		panic(err)
	}
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n\n", strings.ToLower(r.Method), strings.ToLower(kind), link, strings.ToLower(date))
	sent, err := url.QueryUnescape(r.Header.Get("Authorization"))
	if err != nil || !hmac.Equal([]byte(sent), []byte("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(h.Sum(nil)))) {
		return "The MAC signature found in the HTTP request is not the same as the computed signature."
	}
	return ""
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": code, "message": message})
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := verify(r); why != "" {
		fail(w, http.StatusUnauthorized, "Unauthorized", why)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/":
		here := []map[string]string{{"name": "West", "databaseAccountEndpoint": "http://" + d.address + "/"}}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "double", "writableLocations": here, "readableLocations": here, "userConsistencyPolicy": map[string]string{"defaultConsistencyLevel": "Session"}})
	case len(parts) < 4 || parts[0] != "dbs" || parts[1] != "load" || parts[2] != "colls" || parts[3] != "rows" && parts[3] != "other":
		fail(w, http.StatusNotFound, "NotFound", "Resource Not Found.")
	case len(parts) == 4 && r.Method == http.MethodGet:
		path := "/job"
		if parts[3] == "other" {
			path = "/id"
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": parts[3], "partitionKey": map[string]any{"paths": []string{path}, "kind": "Hash"}})
	case len(parts) > 4 && parts[4] == "docs" && parts[3] == "rows":
		d.documents(w, r, parts[5:])
	default:
		fail(w, http.StatusBadRequest, "BadRequest", "no such operation")
	}
}

// documents creates, reads and replaces.
func (d *double) documents(w http.ResponseWriter, r *http.Request, id []string) {
	var partition []string
	if json.Unmarshal([]byte(r.Header.Get("x-ms-documentdb-partitionkey")), &partition) != nil || len(partition) != 1 {
		fail(w, http.StatusBadRequest, "BadRequest", "PartitionKey extracted from document doesn't match the one specified in the header.")
		return
	}
	if r.Method == http.MethodGet && len(id) == 1 {
		found, ok := d.docs[partition[0]+"/"+id[0]]
		if !ok {
			fail(w, http.StatusNotFound, "NotFound", "Entity with the specified id does not exist in the system.")
			return
		}
		d.answer(w, http.StatusOK, &found, 1)
		return
	}
	if d.throttle > 0 {
		d.throttle--
		w.Header().Set("x-ms-retry-after-ms", "20")
		fail(w, http.StatusTooManyRequests, "TooManyRequests", "Request rate is large.")
		return
	}
	b, err := io.ReadAll(r.Body)
	var body map[string]any
	if err != nil || json.Unmarshal(b, &body) != nil {
		fail(w, http.StatusBadRequest, "BadRequest", "The request payload is invalid.")
		return
	}
	name, _ := body["id"].(string)
	switch {
	case len(b) > documentMax:
		fail(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "Request size is too large.")
		return
	case name == "" || len(name) > 255 || strings.ContainsAny(name, `/\?#`) || strings.HasSuffix(name, " "):
		fail(w, http.StatusBadRequest, "BadRequest", "The input name is invalid.")
		return
	case body["job"] != partition[0]:
		fail(w, http.StatusBadRequest, "BadRequest", "PartitionKey extracted from document doesn't match the one specified in the header.")
		return
	}
	was, there := d.docs[partition[0]+"/"+name]
	switch {
	case r.Method == http.MethodPost && len(id) == 0:
		if there && !strings.EqualFold(r.Header.Get("x-ms-documentdb-is-upsert"), "true") {
			fail(w, http.StatusConflict, "Conflict", "Entity with the specified id already exists in the system.")
			return
		}
	case r.Method == http.MethodPut && len(id) == 1 && id[0] == name:
		if !there {
			fail(w, http.StatusNotFound, "NotFound", "Entity with the specified id does not exist in the system.")
			return
		}
		if match := r.Header.Get("If-Match"); match != "" && match != was.etag {
			fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "Operation cannot be performed because one of the specified precondition is not met.")
			return
		}
	default:
		fail(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "no such operation")
		return
	}
	d.count++
	now := document{partition: partition[0], etag: fmt.Sprintf("%q", fmt.Sprint("etag-", d.count)), body: body}
	d.docs[partition[0]+"/"+name] = now
	status := http.StatusOK
	if r.Method == http.MethodPost && !there {
		status = http.StatusCreated
	}
	d.answer(w, status, &now, charge)
}

func (d *double) answer(w http.ResponseWriter, status int, what *document, units float64) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", what.etag)
	w.Header().Set("x-ms-request-charge", strconv.FormatFloat(units, 'f', 2, 64))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what.body)
}

// client is the vendor's.
func (d *double) client(secret string) (*azcosmos.ContainerClient, error) {
	c, err := azcosmos.NewKeyCredential(secret)
	if err != nil {
		return nil, err
	}
	client, err := azcosmos.NewClientWithKey("http://"+d.address, c, nil)
	if err != nil {
		return nil, err
	}
	return client.NewContainer("load", "rows")
}

// judge lets the vendor's client pass.
func (d *double) judge() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := d.client(key)
	if err != nil {
		return err
	}
	of := azcosmos.NewPartitionKeyString("jöb")
	made, err := c.CreateItem(ctx, of, []byte(`{"id":"a b","job":"jöb","n":1}`), nil)
	if err != nil || made.RequestCharge != charge {
		return fmt.Errorf("azcosmos creates: %w, %v request units", err, made.RequestCharge)
	}
	var said *azcore.ResponseError
	if _, err := c.CreateItem(ctx, of, []byte(`{"id":"a b","job":"jöb"}`), nil); !errors.As(err, &said) || said.StatusCode != http.StatusConflict {
		return fmt.Errorf("azcosmos creates again: %v", err)
	}
	if _, err := c.ReplaceItem(ctx, of, "a b", []byte(`{"id":"a b","job":"jöb","n":2}`), &azcosmos.ItemOptions{IfMatchEtag: &made.ETag}); err != nil {
		return fmt.Errorf("azcosmos replaces: %w", err)
	}
	if _, err := c.ReplaceItem(ctx, of, "a b", []byte(`{"id":"a b","job":"jöb","n":3}`), &azcosmos.ItemOptions{IfMatchEtag: &made.ETag}); !errors.As(err, &said) || said.StatusCode != http.StatusPreconditionFailed {
		return fmt.Errorf("azcosmos replaces what has changed: %v", err)
	}
	got, err := c.ReadItem(ctx, of, "a b", nil)
	if err != nil || !strings.Contains(string(got.Value), `"n":2`) {
		return fmt.Errorf("azcosmos reads %s, %w", got.Value, err)
	}
	about, err := c.Read(ctx, nil)
	if err != nil || about.ContainerProperties.PartitionKeyDefinition.Paths[0] != "/job" {
		return fmt.Errorf("azcosmos reads the container: %w", err)
	}
	if other, err := d.client(wrong); err != nil {
		return err
	} else if _, err := other.ReadItem(ctx, of, "a b", nil); err == nil || !strings.Contains(err.Error(), "401") {
		return fmt.Errorf("azcosmos with a wrong key: %v", err)
	}
	return nil
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	d := &double{address: l.Addr().String(), docs: map[string]document{}}
	go func() { log.Fatal(http.Serve(l, d)) }()
	if err := d.judge(); err != nil {
		log.Fatal(err)
	}
	d.docs = map[string]document{}
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr(), page.Addr())
	log.Fatal(http.Serve(page, http.HandlerFunc(d.page)))
}

func (d *double) page(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/key":
		fmt.Fprint(w, key)
	case "/throttle":
		d.mu.Lock()
		d.throttle, _ = strconv.Atoi(r.FormValue("n"))
		d.mu.Unlock()
	case "/documents":
		d.mu.Lock()
		all := []document{}
		for _, doc := range d.docs {
			all = append(all, doc)
		}
		d.mu.Unlock()
		c, err := d.client(key)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		read := []json.RawMessage{}
		for _, doc := range all {
			got, err := c.ReadItem(r.Context(), azcosmos.NewPartitionKeyString(doc.partition), doc.body["id"].(string), nil)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			read = append(read, got.Value)
		}
		_ = json.NewEncoder(w).Encode(read)
	default:
		http.NotFound(w, r)
	}
}
