package outputs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func kindOfTest() *Kind {
	return &Kind{Name: "store", Place: "URL", Options: []Option{
		{Name: "token", Type: OptionSecret}, {Name: "table", Type: OptionText, Default: "t"}, {Name: "create", Type: OptionBool, Default: "true"},
		{Name: "size", Type: OptionNumber, Min: 1, Max: 9, Default: "3"}, {Name: "every", Type: OptionSpan, Min: int64(time.Second), Max: int64(time.Hour)},
	}}
}

func TestParse(t *testing.T) {
	_, err := Parse(kindOfTest(), "http://h/a,b?x=1%2Cy=2,table=a,b=c,create=false,size=9,window=60s,token_env=OUTPUT_TOKEN_OF_TEST")
	if err == nil {
		t.Fatal("b= behind an option is no option, and no part of a value")
	}
	s, err := Parse(kindOfTest(), "http://h/a,b?x=1%2Cy=2,table=a,b,create=false,size=9,window=60s,token_env=OUTPUT_TOKEN_OF_TEST")
	if err != nil {
		t.Fatal(err)
	}
	if s.Place != "http://h/a,b?x=1%2Cy=2" || s.Text("table") != "a,b" || s.Bool("create") || s.Number("size") != 9 || s.Window() != time.Minute || s.Span("every") != 0 || !s.Required() {
		t.Errorf("%+v", s)
	}
	t.Setenv("OUTPUT_TOKEN_OF_TEST", " secret\n")
	if v, err := s.Secret("token").Read(); v != "secret" || err != nil || strings.Contains(s.Secret("token").String(), "secret\n") {
		t.Errorf("%q %v", v, err)
	}
}

func TestWhatIsNoPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "write store=URL",
		"http://u:pass@h/":                      "use password_file=FILE",
		"http://u:a#pass@h/":                    "use password_file=FILE",
		"http://u:1#pass@h/":                    "use password_file=FILE",
		"http://u:50%pass@h/":                   "use password_file=FILE",
		"http://u:a/pass@h/db":                  "use password_file=FILE",
		"http://h/,token=abc":                   "use token_file=FILE or token_env=VARIABLE",
		"http://h/db,tokn=abc":                  "did you mean token?",
		"http://h/db?x=y,passphrase=abc":        "passphrase is no option of store",
		"http://h/,windw=5s":                    "did you mean window?",
		"http://h/,table=x,colour=red":          "colour is no option of store",
		"http://h/,window=7s":                   `window = "7s": use 1s`,
		"http://h/,create=yes":                  "write true or false",
		"http://h/,size=10":                     "write a whole number from 1 to 9",
		"http://h/,every=1ms":                   "write a time from 1s to 1h0m0s",
		"http://h/,size=1,size=2":               "given twice",
		"http://h/,token_file=a,token_env=b":    "once",
		"http://h/" + strings.Repeat("x", 5000): "at most 4096",
	} {
		if _, err := Parse(kindOfTest(), text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass@") || strings.Contains(err.Error(), "abc") {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := Secret{name: "token", file: file}
	for _, want := range []string{"one", "two"} { // read anew each time
		if err := os.WriteFile(file, []byte(want+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if v, err := at.Read(); v != want || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, secretMax+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Secret{{name: "token"}, {name: "token", file: dir + "/none"}, {name: "token", env: "OUTPUT_TOKEN_OF_NO_TEST"}, {name: "token", file: large}} {
		if _, err := s.Read(); err == nil || !strings.Contains(err.Error(), "token") {
			t.Errorf("%v: %v", s, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("http://h/a,b?x=1,table=a,size=3")
	f.Add("file,dead_letters=x,required=false")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(kindOfTest(), text)
		if err == nil && (s.Place == "" || !strings.HasPrefix(text, s.Place)) {
			t.Errorf("%q has the place %q", text, s.Place)
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"kind":"window","job":"a","started":"2026-11-29T14:08:00.281Z","version":"0000000000000000000000000000000000000000000000000000000000000001","from_ms":0,"to_ms":1000,"begun":1,"bucket_ns":[5],"bucket_count":[1],"min_ns":5,"max_ns":5,"sum_ns":5}`))
	f.Add([]byte(`{"kind":"window","job":"a\ufffd04","started":"2026-11-29T14:08:00.281Z","version":"0000000000000000000000000000000000000000000000000000000000000001"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseJSON(b)
		if err != nil {
			return
		}
		again, err := ParseJSON(AppendJSON(nil, &r))
		if err != nil || again.Key() != r.Key() {
			t.Errorf("%s: %v", b, err)
		}
	})
}
