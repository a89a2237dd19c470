package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	email   = "loader@shop.iam.gserviceaccount.com"
	keyID   = "key-1"
	project = "shop"
	grant   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// bearer is a token that was given out.
type bearer struct {
	scopes []string
	until  time.Time
}

// authority gives tokens for assertions of one service account, and to machines of Google's.
type authority struct {
	key *rsa.PrivateKey
	url string // of its tokens

	mu     sync.Mutex
	given  map[string]bearer
	lasts  time.Duration
	count  int // tokens so far
	denies bool
}

func newAuthority() (*authority, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	return &authority{key: key, given: map[string]bearer{}, lasts: time.Hour}, err
}

// account is the key file.
func (a *authority) account() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		panic(err)
	}
	b, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": project, "private_key_id": keyID, "client_email": email, "token_uri": a.url,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		panic(err)
	}
	return b
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	scopes, err := a.asked(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err == nil && a.denies {
		err = fmt.Errorf("the account is disabled")
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant", "error_description": err.Error()})
		return
	}
	var b [16]byte
	_, _ = rand.Read(b[:])
	token := "ya29." + hex.EncodeToString(b[:])
	a.count++
	a.given[token] = bearer{scopes: scopes, until: time.Now().Add(a.lasts)}
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(a.lasts.Seconds())})
}

// asked verifies who asks, with a library that shares nothing with the product.
func (a *authority) asked(r *http.Request) ([]string, error) {
	if strings.HasPrefix(r.URL.Path, "/computeMetadata/v1/") {
		if r.Header.Get("Metadata-Flavor") != "Google" || r.Header.Get("X-Forwarded-For") != "" {
			return nil, fmt.Errorf("no Metadata-Flavor")
		}
		return strings.Split(r.FormValue("scopes"), ","), nil
	}
	if r.Method != http.MethodPost || r.FormValue("grant_type") != grant {
		return nil, fmt.Errorf("grant_type %q", r.FormValue("grant_type"))
	}
	claims := struct {
		jwt.RegisteredClaims
		Scope string `json:"scope"`
	}{}
	parsed, err := jwt.ParseWithClaims(r.PostFormValue("assertion"), &claims, func(*jwt.Token) (any, error) { return &a.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithAudience(a.url), jwt.WithIssuer(email), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	if err != nil {
		return nil, err
	}
	if parsed.Header["kid"] != keyID || parsed.Header["typ"] != "JWT" {
		return nil, fmt.Errorf("head %v", parsed.Header)
	}
	if claims.IssuedAt == nil || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > time.Hour {
		return nil, fmt.Errorf("it lasts longer than an hour")
	}
	return strings.Fields(claims.Scope), nil
}

// allows says that a request has a token, for one of the scopes.
func (a *authority) allows(r *http.Request, scopes ...string) (status int, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	b, given := a.given[token]
	if !ok || !given || time.Now().After(b.until) {
		return http.StatusUnauthorized, "authError"
	}
	for _, s := range b.scopes {
		for _, wanted := range scopes {
			if s == "https://www.googleapis.com/auth/"+wanted {
				return http.StatusOK, ""
			}
		}
	}
	return http.StatusForbidden, "insufficientPermissions"
}

// page lets a test read the key file, count tokens, and change what tokens are.
func (a *authority) page(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r.URL.Path {
	case "/account":
		_, _ = w.Write(a.account())
	case "/count":
		fmt.Fprint(w, a.count)
	case "/revoke":
		a.given = map[string]bearer{}
	case "/lasts":
		a.lasts, _ = time.ParseDuration(r.FormValue("for"))
	case "/denies":
		a.denies = r.FormValue("it") == "true"
	default:
		http.NotFound(w, r)
	}
}

// fail answers as Google's APIs over JSON do.
func fail(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": status, "message": message, "errors": []map[string]string{{"message": message, "domain": "global", "reason": reason}},
	}})
}
