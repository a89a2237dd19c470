package google

import (
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"hyperscale/runtime/outputs/sign"
)

const (
	tokenURL  = "https://oauth2.googleapis.com/token"
	assertion = time.Hour // the longest that Google takes
)

// account is a service account, as its key file has it.
type account struct {
	email, project, keyID, tokenURL string
	key                             *rsa.PrivateKey
}

// parseAccount reads the key file of a service account. Its error has nothing of the key.
func parseAccount(text []byte) (*account, error) {
	var in struct {
		Type     string `json:"type"`
		Project  string `json:"project_id"`
		KeyID    string `json:"private_key_id"`
		Key      string `json:"private_key"`
		Email    string `json:"client_email"`
		TokenURI string `json:"token_uri"`
	}
	if json.Unmarshal(text, &in) != nil {
		return nil, errors.New("it is no JSON: give the key file of a service account")
	}
	if in.Type != "service_account" || in.Email == "" {
		return nil, fmt.Errorf("its type is %.40q: give the key file of a service account, with client_email", in.Type)
	}
	key, err := sign.RSAKey(in.Key)
	if err != nil {
		return nil, fmt.Errorf("private_key: %w", err)
	}
	if in.TokenURI == "" {
		in.TokenURI = tokenURL
	}
	u, err := url.Parse(in.TokenURI)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		return nil, fmt.Errorf("token_uri = %.80q is no address of https: write %s", in.TokenURI, tokenURL)
	}
	return &account{email: in.Email, project: in.Project, keyID: in.KeyID, tokenURL: in.TokenURI, key: key}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// grant is the body that asks for a token at a time.
func (a *account) grant(scope string, now time.Time) (string, error) {
	token, err := sign.RS256(a.key, sign.HeadRS256(a.keyID), struct {
		Issuer   string `json:"iss"`
		Scope    string `json:"scope"`
		Audience string `json:"aud"`
		Issued   int64  `json:"iat"`
		Expires  int64  `json:"exp"`
	}{a.email, scope, a.tokenURL, now.Unix(), now.Add(assertion).Unix()})
	if err != nil {
		return "", err
	}
	return url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {token}}.Encode(), nil
}
