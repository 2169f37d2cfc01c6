package cmd

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"logdir/store"
	"logdir/store/vfs"
)

// A flag takes its value from, in this order: the command line, the environment, the
// settings file, its default. Settings are named by command and flag: "data-dir" for a
// global flag, "produce.acks" for another; in the environment LOGDIR_DATA_DIR and
// LOGDIR_PRODUCE_ACKS.

// maxConfigSize bounds the settings file, in bytes.
const maxConfigSize = 1 << 20

// topicConfigs are flags that decide about data. They are read from the command line
// and the environment, never from a file that is forgotten: the place for a lasting
// choice is the topic's config.
var topicConfigs = []string{"partitioner", "unkeyed", "config"}

// settings are the environment and the settings file, read once.
type settings struct {
	env  map[string]string // variables that start with LOGDIR_
	file *viper.Viper      // nil: there is no file
	path string            // of the file
	shut error             // why the place of the file cannot hold one, if so
	// applied are the flags that got their value from here.
	applied map[*pflag.Flag]bool
}

// origin is the place that a value is from: "env" or "file", and its name there. The
// zero value says that nothing sets it.
type origin struct{ kind, name string }

// loadSettings gives every flag that the command line left alone its value from the
// environment or the file.
func (e *Env) loadSettings(cmd *cobra.Command) error {
	e.settings.env, e.settings.applied = e.logdirVariables(), map[*pflag.Flag]bool{}
	if err := e.readConfigFile(); err != nil {
		return err
	}
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed && isSetting(f) {
			errs = append(errs, e.settings.apply(cmd, f))
		}
	})
	if e.settings.shut != nil && e.Global.Verbose > 0 {
		e.Note("no settings file: %v", e.settings.shut)
	}
	return errors.Join(errs...)
}

// isSetting leaves out what makes sense only on a command line.
func isSetting(f *pflag.Flag) bool {
	return !f.Hidden && f.Name != "help" && f.Name != "version"
}

// apply sets one flag from the environment, else from the file.
func (s *settings) apply(cmd *cobra.Command, f *pflag.Flag) error {
	values, from := s.lookup(cmd, f)
	if from.kind == "" {
		return nil
	}
	f.Changed, s.applied[f] = true, true
	var err error
	if list, ok := f.Value.(pflag.SliceValue); ok {
		err = list.Replace(values)
	} else {
		err = f.Value.Set(values[0])
	}
	if err != nil {
		return usagef("%s: %w", from.name, err)
	}
	return nil
}

// lookup finds the value of a flag outside the command line. A list in the environment
// is split at commas.
func (s *settings) lookup(cmd *cobra.Command, f *pflag.Flag) ([]string, origin) {
	key := settingKey(cmd, f)
	name := variableName(key)
	_, list := f.Value.(pflag.SliceValue)
	if v := s.env[name]; v != "" {
		if list {
			return strings.Split(v, ","), origin{"env", name}
		}
		return []string{v}, origin{"env", name}
	}
	if s.file == nil || !s.file.IsSet(key) || slices.Contains(topicConfigs, f.Name) {
		return nil, origin{}
	}
	from := origin{"file", s.path + ": " + key}
	if list {
		return s.file.GetStringSlice(key), from
	}
	return []string{s.file.GetString(key)}, from
}

// settingKey is "data-dir" for a global flag, "topic.create.partitions" for another.
func settingKey(cmd *cobra.Command, f *pflag.Flag) string {
	if cmd.Root().PersistentFlags().Lookup(f.Name) == f {
		return f.Name
	}
	path := strings.Fields(cmd.CommandPath())[1:]
	return strings.Join(append(path, f.Name), ".")
}

// variableName is the environment variable of a setting.
func variableName(key string) string {
	if key == "failpoint" {
		return "LOGDIR_FAILPOINTS"
	}
	return "LOGDIR_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(key))
}

// logdirVariables picks our variables out of the environment.
func (e *Env) logdirVariables() map[string]string {
	ours := map[string]string{}
	for _, entry := range e.Environ() {
		if name, value, ok := strings.Cut(entry, "="); ok && strings.HasPrefix(name, "LOGDIR_") {
			ours[name] = value
		}
	}
	return ours
}

// readConfigFile reads the settings file. Only one that was asked for must be there.
func (e *Env) readConfigFile() error {
	path, wanted := e.configPath()
	if path == "" {
		return nil
	}
	data, err := vfs.ReadAll(e.FS, path, maxConfigSize)
	if err != nil {
		return e.withoutConfigFile(path, wanted, err)
	}
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(data)); err != nil {
		return store.Errorf(store.Usage, "INVALID_CONFIG", "%s: %s", path, oneLine(err.Error()))
	}
	e.settings.file, e.settings.path = v, path
	e.warnOfKeys()
	return nil
}

// withoutConfigFile says what becomes of a settings file that err kept from being read. If
// nobody asked for it, a place that cannot hold one, or not be looked into, is an empty one.
func (e *Env) withoutConfigFile(path string, wanted bool, err error) error {
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && wanted {
		return store.Errorf(store.NotFound, "INVALID_CONFIG", "settings file: %w", err)
	}
	if _, unseen := e.FS.Stat(path); wanted || unseen == nil {
		return err
	}
	if !missing {
		e.settings.shut = err
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// configPath is the settings file, and whether somebody asked for this one.
func (e *Env) configPath() (path string, wanted bool) {
	if e.Global.ConfigFile != "" {
		return e.Global.ConfigFile, true
	}
	if path := e.settings.env["LOGDIR_CONFIG"]; path != "" {
		return path, true
	}
	if dir, _ := e.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "logdir", "config.yaml"), false
	}
	if home, _ := e.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "logdir", "config.yaml"), false
	}
	return "", false
}

// warnOfKeys names the keys of the file that no flag has, and those that do not belong
// into a file.
func (e *Env) warnOfKeys() {
	known := settingKeys()
	keys := e.settings.file.AllKeys()
	slices.Sort(keys)
	for _, key := range keys {
		name := key[strings.LastIndexByte(key, '.')+1:]
		switch {
		case slices.Contains(known, key) && slices.Contains(topicConfigs, name):
			e.Note("%s: %s decides about data: set it as a config of the topic", e.settings.path, key)
		case slices.Contains(known, key):
		default:
			e.Note("%s: unknown setting %s%s", e.settings.path, key, didYouMean(key, known))
		}
	}
}

// warnOfVariables names the variables of the environment that set nothing.
func (e *Env) warnOfVariables() {
	var known []string
	for _, key := range settingKeys() {
		known = append(known, variableName(key))
	}
	for _, name := range slices.Sorted(maps.Keys(e.settings.env)) {
		if !slices.Contains(known, name) {
			e.Note("%s sets nothing%s", name, didYouMean(name, known))
		}
	}
}

func didYouMean(word string, candidates []string) string {
	if near := store.Nearest(word, candidates); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}

// settingKeys lists every setting of the whole command tree.
func settingKeys() []string {
	var keys []string
	visitSettings(NewRoot(&Env{}), func(c *cobra.Command, f *pflag.Flag) { keys = append(keys, settingKey(c, f)) })
	return keys
}

// visitSettings calls fn for the global flags, then for each command's own.
func visitSettings(root *cobra.Command, fn func(*cobra.Command, *pflag.Flag)) {
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if isSetting(f) {
			fn(root, f)
		}
	})
	visitCommands(root, func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if isSetting(f) && c.HasParent() {
				fn(c, f)
			}
		})
	})
}

// visitCommands calls fn for a command and everything below it.
func visitCommands(c *cobra.Command, fn func(*cobra.Command)) {
	fn(c)
	for _, sub := range c.Commands() {
		visitCommands(sub, fn)
	}
}
