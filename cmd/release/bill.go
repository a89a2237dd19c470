package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
	"unicode"
)

// The fields of SPDX 2.3 that a bill has; https://spdx.github.io/spdx-spec/v2.3 says which are required.
type (
	document struct {
		Version       string         `json:"spdxVersion"`
		License       string         `json:"dataLicense"`
		ID            string         `json:"SPDXID"`
		Name          string         `json:"name"`
		Namespace     string         `json:"documentNamespace"`
		Created       creation       `json:"creationInfo"`
		Describes     []string       `json:"documentDescribes"`
		Packages      []component    `json:"packages"`
		Relationships []relationship `json:"relationships"`
	}
	creation struct {
		At       string   `json:"created"`
		Creators []string `json:"creators"`
	}
	component struct {
		Name      string      `json:"name"`
		ID        string      `json:"SPDXID"`
		Version   string      `json:"versionInfo"`
		Location  string      `json:"downloadLocation"`
		Analyzed  bool        `json:"filesAnalyzed"`
		Concluded string      `json:"licenseConcluded"`
		Declared  string      `json:"licenseDeclared"`
		Copyright string      `json:"copyrightText"`
		Purpose   string      `json:"primaryPackagePurpose"`
		Source    string      `json:"sourceInfo,omitempty"`
		File      string      `json:"packageFileName,omitempty"`
		Checksums []checksum  `json:"checksums,omitempty"`
		External  []reference `json:"externalRefs,omitempty"`
	}
	checksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	reference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	relationship struct {
		Of   string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

// What SPDX calls a document's own name, and what this command does not know.
const (
	documentID  = "SPDXRef-DOCUMENT"
	noAssertion = "NOASSERTION"
)

// bill is the bill of materials of one binary, from what the linker has written into it.
func bill(name, sum string, c commit, info *debug.BuildInfo) ([]byte, error) {
	d := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: documentID, Name: name,
		Namespace: "https://spdx.org/spdxdocs/" + name + "-" + sum,
		Created:   creation{At: c.at.UTC().Format(time.RFC3339), Creators: []string{"Tool: " + binary + "-release"}},
	}
	product := component{
		Name: binary, ID: idOf(binary, ""), Version: c.version, Location: noAssertion, Concluded: noAssertion, Declared: "Apache-2.0",
		Copyright: noAssertion, Purpose: "APPLICATION", File: name, Checksums: []checksum{{"SHA256", sum}},
	}
	d.Describes = []string{product.ID}
	d.Packages = []component{product}
	d.Relationships = []relationship{{documentID, "DESCRIBES", product.ID}}
	add := func(p component) {
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, relationship{product.ID, "DEPENDS_ON", p.ID})
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	add(module("stdlib", version, "https://go.dev/dl/"+info.GoVersion+".src.tar.gz", ""))
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("module %s is replaced by %s: a release has published modules alone", m.Path, m.Replace.Path)
		}
		add(module(m.Path, m.Version, "https://proxy.golang.org/"+escaped(m.Path)+"/@v/"+escaped(m.Version)+".zip", m.Sum))
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

// module is a module of Go.
func module(path, version, location, sum string) component {
	p := component{
		Name: path, ID: idOf(path, version), Version: version, Location: location, Concluded: noAssertion, Declared: noAssertion,
		Copyright: noAssertion, Purpose: "LIBRARY", External: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
	if sum != "" {
		p.Source = "go.sum: " + sum
	}
	return p
}

// others matches what an identifier of SPDX may not have.
var others = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func idOf(path, version string) string {
	id := "SPDXRef-Package-" + others.ReplaceAllString(path, "-")
	if version != "" {
		id += "-" + others.ReplaceAllString(version, "-")
	}
	return id
}

// escaped is how the proxy names what has capital letters.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
