package controlplane

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

const (
	auditFile   = "audit.log"
	auditPolicy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [ResponseStarted]\nrules: [{level: Metadata}]\n"
)

// Request is one that the API server has taken in, as its audit log tells it.
type Request struct {
	ID     string    `json:"auditID"`
	At     time.Time `json:"requestReceivedTimestamp"`
	Verb   string    `json:"verb"`
	URI    string    `json:"requestURI"`
	User   User      `json:"user"`
	Object Object    `json:"objectRef"`
	Answer Answer    `json:"responseStatus"`
}

// Answer is zero until the request is answered; a watch is answered when it ends.
type Answer struct {
	Code int `json:"code"`
}

// User is who asked.
type User struct {
	Name string `json:"username"`
}

// Object is what a request is about.
type Object struct {
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
}

// Audit is all requests of a user until now, the oldest first.
func (c *Cluster) Audit(t testing.TB, user string) (all []Request) {
	t.Helper()
	f, err := os.Open(c.path(auditFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	known := map[string]int{} // the log has a line when a request comes, and one when it is answered
	for lines.Scan() {
		var r Request
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.User.Name != user { // the server is writing this line, or was killed in it
			continue
		}
		at, found := known[r.ID]
		if !found {
			known[r.ID], all = len(all), append(all, r)
			continue
		}
		all[at].Answer, all[at].Object = r.Answer, r.Object // the name of what is created comes with the answer
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b Request) int { return a.At.Compare(b.At) })
	return all
}

// MostIn is the largest number of requests within any span of time.
func MostIn(all []Request, span time.Duration) (most int) {
	first := 0
	for i := range all {
		for all[i].At.Sub(all[first].At) >= span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
