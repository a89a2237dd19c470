package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// modules is what the linker writes into a binary, as `go version -m` prints it.
const modules = `path	hyperscale/cmd/hyperscale
mod	hyperscale	(devel)
dep	github.com/HdrHistogram/hdrhistogram-go	v1.4.0	h1:NSnfSVFDFsnqOjg8YcNSLDCrHU4LzLbECw8xDSIeO5k=
dep	golang.org/x/sys	v0.49.0	h1:DMJ5J2J2l2Xg7C1T5Vr7Q7VPO7tV2hMEdbPqk0pLvY0=
dep	golang.org/x/exp	v0.0.0-20231006140011-7918f672742d	h1:jtJma62tbqLibJ5sFQz8bKtEM8rJBtfilJ2qTU199MI=
`

func sampleBill(t *testing.T, text string) []byte {
	t.Helper()
	info, err := debug.ParseBuildInfo(text)
	if err != nil {
		t.Fatal(err)
	}
	info.GoVersion = "go1.26.8"
	c := commit{version: "v1.2.3", at: time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("", 7200))}
	b, err := bill("hyperscale-linux-amd64", strings.Repeat("ab", 32), c, info)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBill compares a bill with SPDX 2.3 and with the modules of the binary.
func TestBill(t *testing.T) {
	text := sampleBill(t, modules)
	for _, fault := range faultsOf(text) {
		t.Error(fault)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range d.Packages {
		got = append(got, p.Name+" "+p.Version)
	}
	want := []string{"hyperscale v1.2.3", "stdlib 1.26.8", "github.com/HdrHistogram/hdrhistogram-go v1.4.0", "golang.org/x/sys v0.49.0", "golang.org/x/exp v0.0.0-20231006140011-7918f672742d"}
	if !slices.Equal(got, want) {
		t.Errorf("got packages %q, want %q", got, want)
	}
	if p := d.Packages[2]; p.Location != "https://proxy.golang.org/github.com/!hdr!histogram/hdrhistogram-go/@v/v1.4.0.zip" || p.Source != "go.sum: h1:NSnfSVFDFsnqOjg8YcNSLDCrHU4LzLbECw8xDSIeO5k=" {
		t.Errorf("a module with capital letters: %+v", p)
	}
	if d.Created.At != "2026-05-01T10:00:00Z" {
		t.Errorf("created %s, want the commit's time in UTC", d.Created.At)
	}
	if again := sampleBill(t, modules); string(again) != string(text) {
		t.Error("the same binary has two bills")
	}
	info, err := debug.ParseBuildInfo("path\tx\nmod\tx\t(devel)\ndep\ta.org/b\tv1.0.0\th1:x=\n=>\t../b\t(devel)\t\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bill("x", "", commit{}, info); err == nil || !strings.Contains(err.Error(), "a.org/b is replaced by ../b") {
		t.Errorf("a replaced module: got %v, want a refusal", err)
	}
}

// TestFaultsAreFound plants a fault in each field that SPDX demands.
func TestFaultsAreFound(t *testing.T) {
	for _, tt := range []struct{ find, replace, want string }{
		{`"spdxVersion": "SPDX-2.3"`, `"spdxVersion": "2.3"`, "spdxVersion"},
		{`"dataLicense": "CC0-1.0"`, `"dataLicense": "MIT"`, "dataLicense"},
		{`"SPDXID": "SPDXRef-DOCUMENT"`, `"SPDXID": "DOCUMENT"`, "SPDXID"},
		{`"name": "hyperscale-linux-amd64"`, `"name": ""`, "name"},
		{`"documentNamespace": "https:`, `"documentNamespace": "#`, "documentNamespace"},
		{`T10:00:00Z`, `T10:00:00+00:00`, "created"},
		{`"Tool: `, `"`, "creators"},
		{`"SPDXRef-Package-stdlib-1.26.8",`, `"SPDXRef-Package-hyperscale",`, "twice"},
		{`"downloadLocation": "https://go.dev/dl/go1.26.8.src.tar.gz"`, `"downloadLocation": ""`, "downloadLocation"},
		{`"filesAnalyzed": false`, `"filesAnalyzed": true`, "packageVerificationCode"},
		{`"algorithm": "SHA256"`, `"algorithm": "SHA-256"`, "algorithm"},
		{strings.Repeat("ab", 32) + `"` + "\n", `abc"` + "\n", "checksumValue"},
		{`"DESCRIBES"`, `"CONTAINS"`, "DESCRIBES"},
		{`"relatedSpdxElement": "SPDXRef-Package-golang.org-x-sys-v0.49.0"`, `"relatedSpdxElement": "SPDXRef-other"`, "SPDXRef-other"},
		{`"referenceCategory": "PACKAGE-MANAGER"`, `"referenceCategory": "PURL"`, "referenceCategory"},
		{`pkg:golang/golang.org/x/sys@`, `golang.org/x/sys@`, "referenceLocator"},
		{`"licenseDeclared": "Apache-2.0"`, `"licenseDeclared": ""`, "licenseDeclared"},
	} {
		text := string(sampleBill(t, modules))
		broken := strings.Replace(text, tt.find, tt.replace, 1)
		if broken == text {
			t.Errorf("%s is not in the bill", tt.find)
			continue
		}
		if got := strings.Join(faultsOf([]byte(broken)), "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: faults %q lack %q", tt.replace, got, tt.want)
		}
	}
}

// What SPDX 2.3 says of values: sections 6, 7, 8 and 11 of its text.
var (
	idPattern      = regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	timePattern    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
	creatorPattern = regexp.MustCompile(`^(Tool|Person|Organization): .+`)
	purlPattern    = regexp.MustCompile(`^pkg:golang/[^@ ]+@[^@ ]+$`)
	lengths        = map[string]int{"SHA1": 40, "SHA224": 56, "SHA256": 64, "SHA384": 96, "SHA512": 128}
)

// faultsOf lists what SPDX 2.3 does not allow in a document.
func faultsOf(text []byte) (faults []string) {
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return []string{err.Error()}
	}
	fault(d.Version == "SPDX-2.3", "spdxVersion = %q", d.Version)
	fault(d.License == "CC0-1.0", "dataLicense = %q", d.License)
	fault(d.ID == "SPDXRef-DOCUMENT", "SPDXID = %q", d.ID)
	fault(d.Name != "", "name is empty")
	space, err := url.Parse(d.Namespace)
	fault(err == nil && space.IsAbs() && !strings.Contains(d.Namespace, "#"), "documentNamespace = %q", d.Namespace)
	fault(timePattern.MatchString(d.Created.At), "creationInfo.created = %q", d.Created.At)
	fault(len(d.Created.Creators) > 0, "creationInfo.creators is empty")
	for _, c := range d.Created.Creators {
		fault(creatorPattern.MatchString(c), "creationInfo.creators: %q", c)
	}
	elements := map[string]bool{d.ID: true}
	for i := range d.Packages {
		p := &d.Packages[i]
		fault(!elements[p.ID], "SPDXID %q twice", p.ID)
		elements[p.ID] = true
		faults = append(faults, faultsOfPackage(p)...)
	}
	reached := map[string]bool{}
	for _, r := range d.Relationships {
		fault(elements[r.Of], "relationship of %q, which is no element", r.Of)
		fault(elements[r.To], "relationship to %q, which is no element", r.To)
		fault(slices.Contains([]string{"DESCRIBES", "DEPENDS_ON"}, r.Type), "relationshipType = %q, want DESCRIBES or DEPENDS_ON", r.Type)
		reached[r.To] = true
	}
	for _, p := range d.Packages {
		fault(reached[p.ID], "no relationship leads to %s", p.ID)
	}
	for _, id := range d.Describes {
		fault(elements[id], "documentDescribes %q, which is no element", id)
	}
	return faults
}

func faultsOfPackage(p *component) (faults []string) {
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, p.Name+": "+fmt.Sprintf(format, args...))
		}
	}
	fault(p.Name != "", "name is empty")
	fault(idPattern.MatchString(p.ID), "SPDXID = %q", p.ID)
	place, err := url.Parse(p.Location)
	fault(p.Location == "NOASSERTION" || err == nil && place.IsAbs(), "downloadLocation = %q", p.Location)
	fault(!p.Analyzed, "filesAnalyzed needs a packageVerificationCode")
	fault(p.Concluded != "" && p.Declared != "" && p.Copyright != "", "licenseConcluded, licenseDeclared or copyrightText is empty: write NOASSERTION")
	fault(slices.Contains([]string{"APPLICATION", "LIBRARY"}, p.Purpose), "primaryPackagePurpose = %q", p.Purpose)
	for _, c := range p.Checksums {
		length, known := lengths[c.Algorithm]
		fault(known, "algorithm = %q", c.Algorithm)
		fault(!known || regexp.MustCompile(fmt.Sprintf(`^[0-9a-f]{%d}$`, length)).MatchString(c.Value), "checksumValue = %q", c.Value)
	}
	for _, r := range p.External {
		fault(r.Category == "PACKAGE-MANAGER", "referenceCategory = %q", r.Category)
		fault(r.Type == "purl" && purlPattern.MatchString(r.Locator), "referenceLocator = %q of type %q", r.Locator, r.Type)
	}
	return faults
}
