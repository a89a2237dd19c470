// Command google is a double of Google's services for tests: tokens of OAuth, Cloud Storage, BigQuery, and Google's
// in-memory Bigtable behind the same tokens. It verifies assertions with
// golang-jwt, and before it prints its addresses, Google's own clients must have passed, and have failed with
// another scope. Its second address is a page: /account is the key file of a service account, /objects what the vendor's
// client reads, /rows what was loaded. Others change what tokens are, and let jobs fail. Its third address is that of
// Bigtable, and /cells what the vendor's client reads of it.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
)

func main() {
	a, err := newAuthority()
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	address := l.Addr().String()
	a.url = "http://" + address + "/token"
	s := &store{authority: a, objects: map[string]object{}}
	q := &warehouse{authority: a, tables: map[string]*table{}, jobs: map[string]*load{}}
	go func() {
		log.Fatal(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/token", strings.HasPrefix(r.URL.Path, "/computeMetadata/"):
				a.token(w, r)
			case strings.Contains(r.URL.Path, "/bigquery/v2/"):
				q.ServeHTTP(w, r)
			default:
				s.ServeHTTP(w, r)
			}
		})))
	}()
	if err := s.judge(address); err != nil {
		log.Fatal(err)
	}
	s.objects = map[string]object{}
	if err := q.judge(address); err != nil {
		log.Fatal(err)
	}
	q.tables, q.jobs = map[string]*table{}, map[string]*load{}
	b, err := newTablet(a)
	if err != nil {
		log.Fatal(err)
	}
	if err := b.judge(); err != nil {
		log.Fatal(err)
	}
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(address, page.Addr(), b.address)
	log.Fatal(http.Serve(page, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/objects":
		case "/cells":
			b.page(w, r)
			return
		case "/rows", "/jobs", "/fails":
			q.page(w, r)
			return
		default:
			a.page(w, r)
			return
		}
		all, err := s.all(address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(all)
	})))
}
