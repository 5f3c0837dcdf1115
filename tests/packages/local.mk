# The packages, made of what stands in the build directory and tried on a copy of this system.
TESTS += %D%/debian_test.py %D%/rpm_test.py %D%/wheel_test.py
EXTRA_DIST += %D%/debian_test.py %D%/repack.py %D%/reproducible %D%/rpm_test.py %D%/scratch.py %D%/wheel_test.py
