# RY_CXX_FLAG(FLAG, IF-YES, IF-NO): does the C++ compiler take FLAG?
AC_DEFUN([RY_CXX_FLAG], [
  AS_VAR_PUSHDEF([cache], [ry_cv_cxx_flag_$1])
  AC_CACHE_CHECK([whether $CXX takes $1], [cache], [
    ry_saved="$CXXFLAGS"; CXXFLAGS="$CXXFLAGS $1 -Werror"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[]])], [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
    CXXFLAGS="$ry_saved"])
  AS_VAR_IF([cache], [yes], [$2], [$3])
  AS_VAR_POPDEF([cache])])

# RY_WARNINGS: the project's warnings in WARN_CXXFLAGS (C++) and WARN_CFLAGS (C).
AC_DEFUN([RY_WARNINGS], [
  WARN_CXXFLAGS=
  m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast],
    [RY_CXX_FLAG(flag, [WARN_CXXFLAGS="$WARN_CXXFLAGS flag"])
    ])
  # GCC 12 warns of an overlap in its own operator+("literal", std::string) (GCC bug 105651).
  RY_CXX_FLAG([-Wno-restrict], [WARN_CXXFLAGS="$WARN_CXXFLAGS -Wno-restrict"])
  # GCC 13 and newer take an empty optional for one whose value is used (GCC bug 80635); GCC 12 finds the real ones.
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
    #if __GNUC__ < 13 || defined __clang__
    #error not one of them
    #endif]])], [WARN_CXXFLAGS="$WARN_CXXFLAGS -Wno-maybe-uninitialized"])
  WARN_CFLAGS="-Wall -Wextra -Wshadow"
  AS_IF([test "$enable_werror" = yes], [
    WARN_CXXFLAGS="$WARN_CXXFLAGS -Werror"
    WARN_CFLAGS="$WARN_CFLAGS -Werror"])
  AC_SUBST([WARN_CXXFLAGS])
  AC_SUBST([WARN_CFLAGS])])

# RY_SANITIZER(LIST): compile and link everything of ours with -fsanitize=LIST. It stands with the compilers' names, as what
# TEST_CXXFLAGS take back must come after it.
AC_DEFUN([RY_SANITIZER], [
  AS_IF([test "$1" != no], [
    # GCC 12 warns of uninitialised members of std::function in its own <regex> under ASan (GCC bug 105562).
    RY_CXX_FLAG([-Wno-maybe-uninitialized], [WARN_CXXFLAGS="$WARN_CXXFLAGS -Wno-maybe-uninitialized"])
    CC="$CC -fsanitize=$1 -fno-omit-frame-pointer -fno-sanitize-recover=all"
    CXX="$CXX -fsanitize=$1 -fno-omit-frame-pointer -fno-sanitize-recover=all"
    AC_MSG_CHECKING([whether -fsanitize=$1 links and runs])
    AC_RUN_IFELSE([AC_LANG_PROGRAM([[]])], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no]); AC_MSG_ERROR([this compiler cannot build with -fsanitize=$1])],
      [AC_MSG_RESULT([not tried: cross compiling])])])
  AM_CONDITIONAL([SANITIZED], [test "$1" != no])])

# RY_OPTIMISATION: OPT_CXXFLAGS and OPT_CFLAGS of what is installed, TEST_CXXFLAGS of the unit tests; empty where the
# user's CXXFLAGS or CFLAGS decide. Comes before the compilers are looked for, which would fill those. Tests are compiled
# more often than run: they are not optimised, which halves their time and that of sanitizers still more. -g1 is what a
# backtrace needs; a debugger wants CXXFLAGS='-Og -g'. Under UBSan a compiler takes twice as long for -O1 as for -O0, so that
# is for HOT_CXXFLAGS alone: placement, of which tests try millions, and decisions, of which they try weeks. What UBSan looks
# at in each access takes half of the time for a test, where ASan sees the same or nobody gains: that is for the code under
# test.
AC_DEFUN([RY_OPTIMISATION], [
  OPT_CXXFLAGS= OPT_CFLAGS= TEST_CXXFLAGS= HOT_CXXFLAGS=
  AS_IF([test -n "$enable_sanitizer" && test "$enable_sanitizer" != no],
    [ry_level="-g1 -O0" ry_test_level="-g0 -O0" # the lines of a test Catch2 tells
     AS_CASE([$enable_sanitizer], [*undefined*],
       [ry_test_level="$ry_test_level -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow"])
     AS_IF([test -z "${CXXFLAGS+given}"], [HOT_CXXFLAGS="-O1"])],
    [ry_level="-g1 -O2" ry_test_level="-g1 -O0"])
  AS_IF([test -z "${CXXFLAGS+given}"], [OPT_CXXFLAGS=$ry_level TEST_CXXFLAGS=$ry_test_level])
  AS_IF([test -z "${CFLAGS+given}"], [OPT_CFLAGS=$ry_level])
  : ${CXXFLAGS=} ${CFLAGS=}
  AC_SUBST([OPT_CXXFLAGS])
  AC_SUBST([OPT_CFLAGS])
  AC_SUBST([HOT_CXXFLAGS])
  AC_SUBST([TEST_CXXFLAGS])])

# RY_PRECOMPILED(yes|no): the headers that most files include are compiled once. Called at the end, as no check of
# configure could include them. The compiler takes from NAME.h.gch/ the one that fits its flags, and NAME.h as text where
# none does, which clang refuses: for it there is one of -O1, too. One word each: libtool would take a file's name for one to
# be linked. What GCC 12 reads precompiled it inlines in another order under -O2, and warns of copies of 2^63 octets, which
# cannot happen: of that kind no warning is an error then. PRECOMPILED_TEST is for the files of tests, but not for the one
# that defines what Catch2 is to be before it includes it.
AC_DEFUN([RY_PRECOMPILED], [
  ry_precompile= PRECOMPILED_TEST=
  AS_IF([test "$1" = yes], [
    AS_CASE(["$TEST_CXXFLAGS"], [*-O0*], [ry_precompile="precompiled_test"])
    AS_CASE(["$OPT_CXXFLAGS"], [*-O*], [ry_precompile="precompiled_test precompiled"])])
  AS_IF([test -n "$ry_precompile"], [
    AC_CONFIG_COMMANDS([precompiled.h], [
      rm -rf precompiled.h.gch precompiled_test.h.gch
      cp "$srcdir/build-aux/precompiled.h" "$srcdir/build-aux/precompiled_test.h" . ||
        AC_MSG_ERROR([the headers to precompile cannot be copied])
      for ry_name in $ry_precompile; do # the first includes the second's text
        mkdir $ry_name.h.gch || AC_MSG_ERROR([$ry_name.h.gch cannot be made])
        for ry_flags in "" "-fPIC -DPIC" $ry_more_flags; do
          ry_flags=$(echo "$ry_flags" | tr , ' ')
          ry_level=$ry_code_level
          test "$ry_name" = precompiled || ry_level=$ry_test_level
          $ry_cxx $ry_level $ry_flags -x c++-header -o "$ry_name.h.gch/code$(echo "$ry_flags" | tr -d ' ')" $ry_name.h ||
            AC_MSG_ERROR([$ry_name.h does not compile: configure without --enable-precompiled])
        done
      done], [
      ry_cxx="$CXX $CXXFLAGS $FMT_CFLAGS" ry_code_level="$ry_code_level" ry_test_level="$ry_test_level" ry_precompile="$ry_precompile" ry_more_flags="$ry_more_flags"])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
      #ifndef __clang__
      #error another
      #endif]])], [ry_more_flags="-O1 -O1,-fPIC,-DPIC"], [ry_more_flags=])
    ry_code_level=$OPT_CXXFLAGS ry_test_level=$TEST_CXXFLAGS
    PRECOMPILED_TEST="-includeprecompiled_test.h"
    AS_CASE([$ry_precompile], [*" precompiled"], [
      AS_CASE(["$OPT_CXXFLAGS"], [*-O2*], [
        m4_foreach_w([kind], [array-bounds restrict stringop-overflow stringop-overread],
          [RY_CXX_FLAG([-W]kind, [OPT_CXXFLAGS="$OPT_CXXFLAGS -Wno-error=kind"])
          ])])
      OPT_CXXFLAGS="-includeprecompiled.h $OPT_CXXFLAGS"])])
  AC_SUBST([PRECOMPILED_TEST])])

# RY_UNITY(yes|no): GNUmakefile, which make takes before Makefile; see build-aux/unity.
AC_DEFUN([RY_UNITY], [
  AS_IF([test "$1" = yes],
    [AC_CONFIG_COMMANDS([GNUmakefile], ["$srcdir/build-aux/unity" || AC_MSG_ERROR([build-aux/unity failed])])],
    [AC_CONFIG_COMMANDS([no-GNUmakefile], [rm -f GNUmakefile])])])

# RY_PKG(NAME, MODULES, DEBIAN-PACKAGES): a required library with a pkg-config file.
AC_DEFUN([RY_PKG], [
  PKG_CHECK_MODULES([$1], [$2], [], [AC_MSG_ERROR([$2 is missing: install Debian's $3])])])

# RY_HEADER(HEADER, DEBIAN-PACKAGE): a required library known by its header.
AC_DEFUN([RY_HEADER], [
  AC_CHECK_HEADER([$1], [], [AC_MSG_ERROR([<$1> is missing: install Debian's $2])])])

# RY_BOOST(VERSION): Boost's headers; Boost.JSON is compiled into src/base, so no Boost library is linked.
AC_DEFUN([RY_BOOST], [
  AC_MSG_CHECKING([for Boost $1 or newer, with Asio, Beast and JSON])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
    #include <boost/version.hpp>
    #include <boost/json/fwd.hpp>
    #if BOOST_VERSION < ]m4_bpatsubst([$1], [\([0-9]+\)\.\([0-9]+\)], [\1 * 100000 + \2 * 100])[
    #error too old
    #endif]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no]); AC_MSG_ERROR([Boost $1 is missing: install Debian's libboost1.81-dev])])])

# RY_SLURM_LIBRARY: the release of Slurm's client library, in ry_slurm_version.
AC_DEFUN([RY_SLURM_LIBRARY], [
  ry_hex=$(printf '#include <slurm/slurm_version.h>\nSLURM_VERSION_NUMBER\n' | $CC -E -P - 2>/dev/null |
    tail -n 1 | sed -n 's/^0x//p')
  ry_slurm_version=$(printf '%d.%02d.%d' $((0x${ry_hex:-0} >> 16)) $((0x${ry_hex:-0} >> 8 & 255)) $((0x${ry_hex:-0} & 255)))])

# RY_LIBSLURM: LIBSLURM is the name of the client library (libslurm.so.38) that belongs to the headers. restartd loads it.
AC_DEFUN([RY_LIBSLURM], [
  AC_MSG_CHECKING([the name of Slurm's client library])
  ry_saved_LIBS=$LIBS LIBSLURM=
  LIBS="-Wl,--no-as-needed -lslurm $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
    [LIBSLURM=$(objdump -p conftest$EXEEXT | sed -n 's/^ *NEEDED  *\(libslurm\.so.*\)/\1/p')])
  LIBS=$ry_saved_LIBS
  AS_IF([test -z "$LIBSLURM"], [AC_MSG_ERROR([nothing links to -lslurm, or objdump is missing: install libslurm-dev and binutils, or say with LDFLAGS where libslurm is])])
  AC_MSG_RESULT([$LIBSLURM])
  AC_SUBST([LIBSLURM])])

# RY_SLURM_TREE(DIR, OPTION): a configured Slurm source for plugins inside its slurmctld, given by OPTION. A build beside the
# source is found by its config.h: DIR itself or DIR/build. Sets
#   ry_src, ry_build  where they stand
#   ry_release        25.11.7
#   ry_kind           select: nodes are chosen by a select plugin (before 24.05); topology: by a topology plugin
#   ry_cppflags, ry_public_cppflags (its public headers only, for SPANK), ry_api (N of its libslurm.so.N)
# For the next release: its number here, and a file beside src/sched/slurm/slurm_topology_rail_2605.c.
AC_DEFUN([RY_SLURM_TREE], [
  ry_src=$(cd "$1" 2>/dev/null && pwd) || AC_MSG_ERROR([$2: no such directory: $1])
  ry_build=
  for d in "$ry_src" "$ry_src/build"; do
    AS_IF([test -f "$d/config.h" && test -f "$d/slurm/slurm_version.h"], [ry_build="$d"; break])
  done
  AS_IF([test -z "$ry_build"], [AC_MSG_ERROR([$2: $1 is not configured (no config.h there or in its build/): run Slurm's configure first])])
  AS_IF([test ! -f "$ry_src/src/slurmctld/slurmctld.h"], [AC_MSG_ERROR([$2: $1 has no src/slurmctld/slurmctld.h])])
  ry_release=$(sed -n 's/^#define SLURM_VERSION_STRING "\(.*\)"/\1/p' "$ry_build/config.h")
  AS_CASE([$ry_release],
    [22.05.*], [ry_kind=select],
    [24.11.* | 25.05.* | 25.11.* | 26.05.*], [ry_kind=topology],
    [AC_MSG_ERROR([$2: no plugin is written for Slurm $ry_release (there are for 22.05, 24.11, 25.05, 25.11 and 26.05): another release needs a file like src/sched/slurm/slurm_topology_rail_2605.c])])
  ry_cppflags="-isystem $ry_build -isystem $ry_build/slurm -isystem $ry_src -isystem $ry_src/src/common"
  ry_public_cppflags="-isystem $ry_build -isystem $ry_src"
  ry_api=$(sed -n 's/^ *API_CURRENT:@<:@@<:@:space:@:>@@:>@*//p' "$ry_src/META")
  # By what types this release calls a topology plugin.
  AS_IF([test "$ry_kind" = topology], [
    ry_ops=slurm-ops/$(expr "$ry_release" : '\(@<:@0-9@:>@*\.@<:@0-9@:>@*\)')
    AS_MKDIR_P([$ry_ops])
    "$srcdir/build-aux/slurm-topology-ops" "$ry_src" >"$ry_ops/slurm_topology_ops.h.new" || AC_MSG_ERROR([$2: see above])
    AS_IF([cmp -s "$ry_ops/slurm_topology_ops.h.new" "$ry_ops/slurm_topology_ops.h"],
      [rm "$ry_ops/slurm_topology_ops.h.new"],
      [mv "$ry_ops/slurm_topology_ops.h.new" "$ry_ops/slurm_topology_ops.h"])
    ry_cppflags="-I$ry_ops $ry_cppflags"])])

# RY_SLURM_SOURCE(DIR|no, NAME, OPTION): NAME_CPPFLAGS, NAME_PUBLIC_CPPFLAGS, NAME_API of RY_SLURM_TREE, and the conditionals
#   NAME           there is one,
#   NAME_SELECT    nodes are chosen by a select plugin,
#   NAME_TOPOLOGY  nodes are chosen by a topology plugin.
AC_DEFUN([RY_SLURM_SOURCE], [
  $2_summary=no ry_kind=
  $2_CPPFLAGS= $2_PUBLIC_CPPFLAGS=
  AS_IF([test "$1" != no], [
    RY_SLURM_TREE([$1], [$3])
    $2_CPPFLAGS=$ry_cppflags
    $2_PUBLIC_CPPFLAGS=$ry_public_cppflags
    $2_API=$ry_api
    $2_summary="Slurm $ry_release from $ry_src"])
  AC_SUBST([$2_API])
  AC_SUBST([$2_CPPFLAGS])
  AC_SUBST([$2_PUBLIC_CPPFLAGS])
  AM_CONDITIONAL([$2], [test -n "$ry_kind"])
  AM_CONDITIONAL([$2_SELECT], [test "$ry_kind" = select])
  AM_CONDITIONAL([$2_TOPOLOGY], [test "$ry_kind" = topology])])

# RY_MORE_SLURM_SOURCES(DIR:…|no, OPTION): any number of further sources, of 24.11 and later, one a release. more-slurm.mk of
# the build directory tells src/sched/slurm/releases.mk of them.
AC_DEFUN([RY_MORE_SLURM_SOURCES], [
  MORE_SLURM_summary= ry_more=
  : >more-slurm.mk.new
  AS_IF([test "$1" != no], [
    ry_saved_IFS=$IFS IFS=:
    for ry_dir in $1; do
      IFS=$ry_saved_IFS
      RY_SLURM_TREE([$ry_dir], [$2])
      AS_IF([test "$ry_kind" = select], [AC_MSG_ERROR([$2: Slurm $ry_release belongs to --with-slurm-src])])
      ry_short=$(expr "$ry_release" : '\(@<:@0-9@:>@*\.@<:@0-9@:>@*\)')
      AS_CASE([" $ry_more "], [*" $ry_short "*], [AC_MSG_ERROR([$2: two sources of Slurm $ry_short])])
      ry_more="$ry_more $ry_short"
      AS_ECHO(["slurm_${ry_short}_cppflags = $ry_cppflags"]) >>more-slurm.mk.new
      AS_ECHO(["slurm_${ry_short}_public_cppflags = $ry_public_cppflags"]) >>more-slurm.mk.new
      AS_ECHO(["slurm_${ry_short}_release = $ry_release"]) >>more-slurm.mk.new
      MORE_SLURM_summary="${MORE_SLURM_summary:+$MORE_SLURM_summary, }$ry_release from $ry_src"
    done
    IFS=$ry_saved_IFS])
  AS_ECHO(["more_slurm =$ry_more"]) >>more-slurm.mk.new
  mv more-slurm.mk.new more-slurm.mk
  AS_IF([test -z "$MORE_SLURM_summary"], [MORE_SLURM_summary=no])])

# RY_SITE_DIRECTORIES: without --prefix what the site configures, keeps and runs stands where Slurm's does, and every
# manual page says: /etc, /var and /run, not below /usr/local.
AC_DEFUN([RY_SITE_DIRECTORIES], [
  AS_IF([test "$prefix" = NONE], [
    AS_IF([test "$sysconfdir" = '${prefix}/etc'], [sysconfdir=/etc])
    AS_IF([test "$localstatedir" = '${prefix}/var'], [localstatedir=/var])])])

# RY_PYTHON_DIR(DIR|empty): in railpythondir, DIR or else where this machine's python3 looks for modules below
# prefix: the system's before another that PATH may name, as jobs on other hosts see that one.
AC_DEFUN([RY_PYTHON_DIR], [
  AC_MSG_CHECKING([where Python looks for modules])
  railpythondir="$1" ry_python_summary=
  AS_IF([test "$prefix" = NONE], [ry_prefix=$ac_default_prefix], [ry_prefix=$prefix])
  AS_IF([test -z "$railpythondir"], [
    for d in $(for p in /usr/bin/python3 python3; do "$p" -c 'import site; print(*site.getsitepackages())' 2>/dev/null; done); do
      AS_CASE(["$d"], ["$ry_prefix"/lib/*], [railpythondir='${prefix}'$(echo "$d" | sed "s|^$ry_prefix||"); break])
    done])
  AS_IF([test -z "$railpythondir"],
    [railpythondir='${prefix}/lib/python3/dist-packages'
     ry_python_summary=" (not on python3's path: name it in PYTHONPATH, or --with-python-dir says where)"])
  AC_MSG_RESULT([$railpythondir])
  AC_SUBST([railpythondir])])

# RY_SLURM_PLUGINDIR(DIR|empty): in slurmplugindir, DIR or else the directory of Slurm's own plugins: PluginDir of the
# cluster this host belongs to, or what stands beside libslurm.
AC_DEFUN([RY_SLURM_PLUGINDIR], [
  AC_MSG_CHECKING([where Slurm's plugins are])
  slurmplugindir="$1" ry_plugindir_summary=
  AS_IF([test -z "$slurmplugindir"], [
    ry_libdir=$(dirname "$($CC -print-file-name=libslurm.so)")
    ry_of_cluster=$(timeout 5 scontrol show config 2>/dev/null | sed -n 's/^PluginDir *= *//p' | tr : ' ')
    for d in $ry_of_cluster "$ry_libdir/slurm-wlm" "$ry_libdir/slurm" /usr/lib64/slurm; do
      AS_IF([test -f "$d/auth_munge.so"], [slurmplugindir=$(cd "$d" && pwd -P); break])
    done])
  AS_IF([test -z "$slurmplugindir"],
    [slurmplugindir='${libdir}/slurm'
     ry_plugindir_summary=" (a guess: no Slurm is installed here; --with-slurm-plugin-dir says where)"])
  AC_MSG_RESULT([$slurmplugindir])
  AC_SUBST([slurmplugindir])])

# RY_SLURM_USER(USER|empty): in slurm_user, USER or else SlurmUser of the cluster this host belongs to, or slurm.
AC_DEFUN([RY_SLURM_USER], [
  AC_MSG_CHECKING([for SlurmUser])
  slurm_user="$1"
  AS_IF([test -z "$slurm_user"],
    [slurm_user=$(timeout 5 scontrol show config 2>/dev/null | sed -n 's/^SlurmUser *= *\([[^(]]*\).*/\1/p')])
  AS_IF([test -z "$slurm_user"], [slurm_user=slurm])
  AC_MSG_RESULT([$slurm_user])
  AC_SUBST([slurm_user])])

# RY_TEST_PARTS: what only the tests need; without it everything builds and installs, and `make check` says what is
# missing (TESTS_MISSING).
AC_DEFUN([RY_TEST_PARTS], [
  TESTS_MISSING=
  AC_CHECK_HEADER([catch2/catch.hpp], [], [TESTS_MISSING="Catch2 (Debian: catch2)"])
  AC_PATH_PROG([MPICXX], [mpicxx])
  MPI_CPPFLAGS= MPI_LIBS=
  # mpicxx is asked for its flags, as libtool links with $CXX.
  AS_IF([test -n "$MPICXX"],
    [for d in `$MPICXX --showme:incdirs`; do MPI_CPPFLAGS="$MPI_CPPFLAGS -isystem $d"; done
     MPI_LIBS=`$MPICXX --showme:link`],
    [TESTS_MISSING="${TESTS_MISSING:+$TESTS_MISSING and }OpenMPI's mpicxx (Debian: libopenmpi-dev)"])
  AC_SUBST([MPI_CPPFLAGS])
  AC_SUBST([MPI_LIBS])
  AC_SUBST([TESTS_MISSING])
  AM_CONDITIONAL([MPI], [test -n "$MPICXX"])])

# RY_OPTIONAL_GPU(WITH-CUDA, WITH-NCCL): what compiles the kernels of railcheck, and whether it links libcuda and
# libnccl or finds them at run time. clang comes first: it needs no CUDA toolkit, and its PTX (7.0) is read by every
# driver since CUDA 11, where that of a new nvcc (9.0 of CUDA 13) wants a driver as new.
AC_DEFUN([RY_OPTIONAL_GPU], [
  AC_PATH_PROG([NVCC], [nvcc], [], [$PATH:/usr/local/cuda/bin])
  AC_PATH_PROGS([CUDA_CLANG], [clang clang-19 clang-17 clang-16 clang-15 clang-14])
  ry_ptx_clang="$CUDA_CLANG -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -Wno-unknown-cuda-version -O2 -std=c++17 -S"
  ry_ptx_nvcc="$NVCC -arch=compute_80 -ptx -O2 -std=c++17"
  PTX_COMPILER=
  AC_MSG_CHECKING([what compiles the kernels of railcheck])
  cat >conftest.cu <<'KERNEL'
extern "C" __attribute__((global)) void conftest(unsigned long long* to) { *to = 1; }
KERNEL
  if test -n "$CUDA_CLANG" && $ry_ptx_clang conftest.cu -o conftest.ptx >&AS_MESSAGE_LOG_FD 2>&1; then
    PTX_COMPILER=$ry_ptx_clang
    ry_cuda_summary="kernels of railcheck by $CUDA_CLANG"
  elif test -n "$NVCC" && $ry_ptx_nvcc conftest.cu -o conftest.ptx >&AS_MESSAGE_LOG_FD 2>&1; then
    PTX_COMPILER=$ry_ptx_nvcc
    ry_cuda_summary="kernels of railcheck by $NVCC"
  else
    ry_cuda_summary="neither clang nor nvcc: railcheck hbm and gemm will say that they have no kernels"
  fi
  AC_MSG_RESULT([${PTX_COMPILER:-nothing here}])
  AC_SUBST([PTX_COMPILER])
  dnl What ptxas assembles needs no compiling by the driver, which takes 0.25 to 0.54 s where it keeps nothing.
  AC_PATH_PROG([PTXAS], [ptxas], [], [$PATH:/usr/local/cuda/bin])
  CUBIN_GPUS=
  for ry_gpu in 80 90 100; do
    test -z "$PTXAS" || test ! -s conftest.ptx || ! $PTXAS -arch=sm_$ry_gpu conftest.ptx -o conftest.cubin >&AS_MESSAGE_LOG_FD 2>&1 ||
      CUBIN_GPUS="$CUBIN_GPUS $ry_gpu"
  done
  ry_cuda_summary="$ry_cuda_summary${CUBIN_GPUS:+, assembled for sm$CUBIN_GPUS}"
  AC_SUBST([CUBIN_GPUS])
  rm -f conftest.cu conftest.ptx conftest.cubin
  CUDA_LIBS=
  AS_IF([test "$1" != no], [
    AS_IF([test "$1" != yes], [CUDA_LIBS="-L$1 -L$1/stubs"], [CUDA_LIBS="-L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs"])
    CUDA_LIBS="-Wl,--no-as-needed $CUDA_LIBS -lcuda -Wl,--as-needed"
    ry_saved_LIBS=$LIBS
    LIBS="$CUDA_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[extern "C" int cuInit(unsigned);]], [[return cuInit(0);]])], [],
      [AC_MSG_ERROR([--with-cuda: libcuda cannot be linked; name its folder, or leave the option out: it is then found at run time])])
    LIBS=$ry_saved_LIBS
    ry_cuda_summary="$ry_cuda_summary; libcuda is linked"])
  ry_nccl_summary="found at run time (dlopen of libnccl.so.2)"
  AS_IF([test "$2" != no], [
    AS_IF([test "$2" != yes], [CUDA_LIBS="$CUDA_LIBS -L$2"])
    CUDA_LIBS="$CUDA_LIBS -Wl,--no-as-needed -lnccl -Wl,--as-needed"
    ry_saved_LIBS=$LIBS
    LIBS="$CUDA_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[extern "C" int ncclGetVersion(int*);]], [[int v; return ncclGetVersion(&v);]])], [],
      [AC_MSG_ERROR([--with-nccl: libnccl cannot be linked; name its folder, or leave the option out])])
    LIBS=$ry_saved_LIBS
    ry_nccl_summary="linked"])
  AC_SUBST([CUDA_LIBS])])
